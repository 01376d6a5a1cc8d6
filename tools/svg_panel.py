"""Line charts as plain SVG, for figures of documents: panels side by side, a legend below them."""
import math

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 220, 52, 40, 56


def text(x, y, words, size=11, anchor="middle", colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


class Panel:
    """One pair of axes; x is logarithmic. Ticks are pairs of a value and what is written there."""

    def __init__(self, place, title, x_range, y_range, y_log, x_ticks, y_ticks, x_name, y_name):
        self.left = LEFT + place * (WIDTH + GAP)
        self.x_range, self.y_range, self.y_log = x_range, y_range, y_log
        self.parts = [text(self.left + WIDTH / 2, TOP - 14, title, 13)]
        for value, words in x_ticks:
            self.parts.append(text(self.x(value), TOP + HEIGHT + 16, words))
        for value, words in y_ticks:
            y = self.y(value)
            self.parts.append(f'<line x1="{self.left}" x2="{self.left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
            self.parts.append(text(self.left - 6, y + 4, words, anchor="end"))
        self.parts.append(text(self.left + WIDTH / 2, TOP + HEIGHT + 34, x_name))
        self.parts.append(text(self.left, TOP - 2, y_name, 10, "start", "#555"))

    def x(self, value):
        low, high = (math.log(v) for v in self.x_range)
        return self.left + WIDTH * (math.log(value) - low) / (high - low)

    def y(self, value):
        low, high = self.y_range
        if self.y_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return TOP + HEIGHT * (1 - (value - low) / (high - low))

    def line(self, points, colour, dash=""):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in sorted(points))
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8" '
                          f'stroke-dasharray="{dash}"/>')

    def upright(self, value, words):
        """A line from top to bottom, with a word on it."""
        x = self.x(value)
        self.parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{TOP + HEIGHT}" stroke="#999" '
                          'stroke-dasharray="2 3"/>')
        self.parts.append(text(x + 4, TOP + 10, words, 10, "start", "#777"))


def legend_entry(x, y, words, colour, dash=""):
    return (f'<line x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>' + text(x + 28, y, words, 11, "start"))


def print_figure(panels, legend, legend_rows=1):
    """All panels of a row; `legend` begins at legend_y(0)."""
    width = LEFT + len(panels) * WIDTH + (len(panels) - 1) * GAP + 20
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{legend_y(legend_rows - 1) + 16}" '
          f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>')
    for panel in panels:
        print("\n".join(panel.parts))
    print("\n".join(legend))
    print("</svg>")


def legend_y(row):
    return TOP + HEIGHT + 56 + 18 * row
