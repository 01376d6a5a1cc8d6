"""Forty-six encodings as runs name them: (name, label, family, how far past the training limit it reaches)."""
GROUPS = {
    "none": [("nope", "NoPE", .30)],
    "embedding": [("sinusoidal", "Sinusoidal", .05), ("learned", "Learned", .03)],
    "bias": [("t5", "T5", .52), ("alibi", "ALiBi", .42), ("alibi-learned", "ALiBi, learned", .44), ("transformer-xl", "Transformer-XL", .36),
             ("t5-per-layer", "T5, per layer", .50), ("kerple-log", "KERPLE, log", .56), ("kerple-power", "KERPLE, power", .54),
             ("bam", "BAM", .48), ("sandwich", "Sandwich", .33), ("retnet", "RetNet decay", .28), ("hard-alibi", "Hard ALiBi", .68),
             ("fire", "FIRE", .61), ("shaw", "Shaw", .31), ("window", "Window", .17)],
    "rotation": [("rope", "RoPE", .14), ("rope(fraction=1)", "RoPE fraction=1", .12), ("xpos", "xPos", .22), ("p-rope", "p-RoPE", .20),
                 ("hope(trained=40)", "HoPE trained=40", .18), ("half-truncated", "Half-truncated RoPE", .24),
                 ("resonance", "Resonance RoPE", .16), ("evq-cosh(trained=40)", "EVQ-cosh trained=40", .19)],
    "content": [("fox", "FoX", .72), ("cable", "CABLE", .58), ("wall", "Wall", .40), ("stick-breaking", "Stick-breaking", .64),
                ("cope", "CoPE", .26), ("dape", "DAPE", .46), ("selective-rope", "Selective RoPE", .23), ("path", "PaTH", .66)],
    "temperature": [("log-n(trained=40)", "log-n trained=40", .35), ("ssmax", "SSMax", .38), ("head-scale", "Head scale", .29)],
    "modifier": [("layers(rope,nope)", "RoPE / NoPE", .34), ("layers(rope,rope,rope,nope)", "RoPE ×3 / NoPE", .37),
                 ("layers(alibi,nope)", "ALiBi / NoPE", .41), ("layers(t5,nope)", "T5 / NoPE", .47),
                 ("layers(rope+window(size=16),rope+window(size=16),rope+window(size=16),nope)", "(RoPE + Window size=16) ×3 / NoPE", .62)],
    "my family": [("mine(reach=4)", "Mine <b>&</b> reach=4", .25)],
}
SUMS = [("rope+log-n(trained=40)", "RoPE + log-n trained=40", "rotation", .21), ("alibi+ssmax", "ALiBi + SSMax", "bias", .49),
        ("t5+ssmax", "T5 + SSMax", "bias", .59), ("rope+fox", "RoPE + FoX", "rotation", .60)]
ENCODINGS = [(name, label, family, reach) for family, members in GROUPS.items() for name, label, reach in members] + SUMS
LABELS = {name: (label, family) for name, label, family, _ in ENCODINGS}
