"""Dynamic NTK for 512 trained tokens, which no sequence here exceeds."""
from rope import scores  # noqa: F401
