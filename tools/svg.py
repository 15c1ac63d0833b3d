"""Text in pictures that a line crosses.

Reads what Graphviz writes: texts with an anchor, paths of cubic curves.  How wide a text is depends on
the reader's fonts: it is taken for about as wide as in Helvetica.
"""

import re
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# Widths of characters in font sizes, about those of Helvetica.
WIDTHS = ((" .,:;'()fijltrI", 0.28), ("mwMW", 0.8), ("ABCDEFGHJKLNOPQRSTUVXYZ", 0.7))
OTHERS = 0.55
ABOVE, BELOW = 0.7, 0.2  # of the base line, in font sizes
STEPS = 100  # points of a curve that are looked at
ANCHORS = {"start": 0, "middle": 0.5, "end": 1}


def width_of(text, size):
    return size * sum(next((width for characters, width in WIDTHS if character in characters), OTHERS)
                      for character in text)


def box_of(text):
    """(left, top, right, bottom)"""
    size = float(text.get("font-size"))
    x, y, width = float(text.get("x")), float(text.get("y")), width_of(text.text, size)
    left = x - ANCHORS[text.get("text-anchor", "start")] * width
    return left, y - ABOVE * size, left + width, y + BELOW * size


def points_of(path):
    """Points along `M x,y C x,y x,y x,y ...`."""
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    corners = list(zip(numbers[::2], numbers[1::2]))
    for at in range(0, len(corners) - 3, 3):
        for step in range(STEPS + 1):
            t = step / STEPS
            weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t ** 3)
            yield tuple(sum(weight * corner[axis] for weight, corner in
                            zip(weights, corners[at:at + 4])) for axis in (0, 1))


def crossed(svg):
    """The texts that a line of an edge, or the frame of a cluster, crosses."""
    root = xml.etree.ElementTree.fromstring(svg)
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") in ("edge", "cluster")]
    points = [point for group in groups for path in group.iter(f"{SVG}path")
              for point in points_of(path.get("d"))]
    for text in root.iter(f"{SVG}text"):
        left, top, right, bottom = box_of(text)
        if any(left < x < right and top < y < bottom for x, y in points):
            yield text.text
