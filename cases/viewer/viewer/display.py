"""Commands of how things are shown: colours, points, layers, and ready-made views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viewer.command import Commands, Rejected
from viewer.dataset import CLASSES
from viewer.geometry import Camera, look, point_of
from viewer.schema import boolean, choice, number
from viewer.view import BACKGROUNDS, COLOR_MODES, ISOMETRIC, LAYERS, PROJECTIONS, RAMPS

if TYPE_CHECKING:
    from viewer.registry import Session

__all__ = ["DISPLAY"]

DISPLAY = Commands()
_WAYS = {"top": (0, 0, -1), "bottom": (0, 0, 1), "south": (0, 1, 0), "north": (0, -1, 0), "west": (1, 0, 0),
         "east": (-1, 0, 0), "isometric": ISOMETRIC}


@DISPLAY.add(
    "setColorMode", "Color mode",
    "What the colour of a point tells: its photographed colour (rgb), its height (elevation), how strongly it "
    "reflected (intensity), or what it belongs to (classification).",
    takes={"mode": choice("What the colour tells.", *COLOR_MODES)},
)
def set_color_mode(session: Session, mode: str) -> dict[str, Any]:
    session.view.color_mode = mode
    return {"colorMode": mode}


@DISPLAY.add(
    "setColorRamp", "Color ramp",
    "The colours that go from low to high in the modes elevation and intensity.",
    takes={"ramp": choice("The name of the ramp.", *RAMPS)},
)
def set_color_ramp(session: Session, ramp: str) -> dict[str, Any]:
    session.view.ramp = ramp
    return {"ramp": ramp}


@DISPLAY.add(
    "setElevationRange", "Elevation range",
    "The elevations at which the colour ramp begins and ends.",
    takes={"min": number("Where the ramp begins, in metres."), "max": number("Where the ramp ends, in metres.")},
)
def set_elevation_range(session: Session, min: float, max: float) -> dict[str, Any]:
    if min >= max:
        raise Rejected(f"min must be below max; they are {min:g} and {max:g}")
    session.view.elevation_range = (min, max)
    return {"elevationRange": [min, max]}


@DISPLAY.add(
    "setPointSize", "Point size",
    "How large a point is drawn. It is 1 at first.",
    takes={"px": number("The diameter in pixels.", minimum=0.5, maximum=20)},
)
def set_point_size(session: Session, px: float) -> dict[str, Any]:
    session.view.point_size = px
    return {"pointSize": px}


@DISPLAY.add(
    "setBackground", "Background",
    "The colour behind the points.",
    takes={"color": choice("The colour.", *BACKGROUNDS)},
)
def set_background(session: Session, color: str) -> dict[str, Any]:
    session.view.background = color
    return {"background": color}


@DISPLAY.add(
    "setEdl", "Eye-dome lighting",
    "Shading that makes edges stand out. Its strength is 1 at first.",
    takes={"strength": number("0 is off, 1 is normal.", minimum=0, maximum=3)},
)
def set_edl(session: Session, strength: float) -> dict[str, Any]:
    session.view.edl = strength
    return {"edl": strength}


@DISPLAY.add(
    "setGrid", "Grid",
    "Show or hide the grid of coordinates.",
    takes={"visible": boolean("Whether it is shown.")},
)
def set_grid(session: Session, visible: bool) -> dict[str, Any]:
    session.view.grid = visible
    return {"grid": visible}


@DISPLAY.add(
    "setProjection", "Projection",
    "Perspective, as eyes see, or orthographic, as drawings are.",
    takes={"mode": choice("The projection.", *PROJECTIONS)},
)
def set_projection(session: Session, mode: str) -> dict[str, Any]:
    session.view.projection = mode
    return {"projection": mode}


@DISPLAY.add(
    "setView", "Standard view",
    "Look at the whole data set from a standard side: from the top, from the south, and so on.",
    takes={"side": choice("Where one looks from.", *_WAYS)},
)
def set_view(session: Session, side: str) -> dict[str, Any]:
    session.view.camera = look(session.view.dataset.bounds, point_of(_WAYS[side]))
    return {"camera": session.view.camera.told()}


@DISPLAY.add(
    "fitAll", "Fit all",
    "Step back until the whole data set is in view; the direction of the look stays.",
)
def fit_all(session: Session) -> dict[str, Any]:
    session.view.camera = look(session.view.dataset.bounds, session.view.camera.direction)
    return {"camera": session.view.camera.told()}


@DISPLAY.add(
    "zoom", "Zoom",
    "Go nearer to what is looked at, or away from it.",
    takes={
        "factor": number("How many times larger things become: 2 is nearer, 0.5 is farther.", minimum=0.1, maximum=10),
    },
)
def zoom(session: Session, factor: float) -> dict[str, Any]:
    camera = session.view.camera
    position = point_of(to + (at - to) / factor for at, to in zip(camera.position, camera.target, strict=True))
    session.view.camera = Camera(position, camera.target)
    return {"camera": session.view.camera.told()}


@DISPLAY.add(
    "setLayerVisible", "Layer visibility",
    "Show or hide a layer.",
    takes={"layer": choice("The layer.", *LAYERS), "visible": boolean("Whether it is shown.")},
)
def set_layer_visible(session: Session, layer: str, visible: bool) -> dict[str, Any]:
    session.view.visible[layer] = visible
    return {"layer": layer, "visible": visible}


@DISPLAY.add(
    "setLayerOpacity", "Layer opacity",
    "How much of a layer is seen. It does not show a hidden layer.",
    takes={
        "layer": choice("The layer.", *LAYERS),
        "opacity": number("0 is invisible, 1 is solid.", minimum=0, maximum=1),
    },
)
def set_layer_opacity(session: Session, layer: str, opacity: float) -> dict[str, Any]:
    session.view.opacity[layer] = opacity
    return {"layer": layer, "opacity": opacity}


@DISPLAY.add(
    "setClassVisible", "Class visibility",
    "Show or hide the points of a class.",
    takes={"class": choice("The class.", *CLASSES), "visible": boolean("Whether they are shown.")},
)
def set_class_visible(session: Session, visible: bool, **given: str) -> dict[str, Any]:
    name = given["class"]
    hidden = [one for one in session.view.hidden_classes if one != name]
    session.view.hidden_classes = hidden if visible else [*hidden, name]
    return {"class": name, "visible": visible}


@DISPLAY.add(
    "exportImage", "Save image",
    "Save what is seen now as a picture, on this computer.",
    takes={"format": choice("The kind of file.", "png", "jpg")},
)
def export_image(session: Session, format: str) -> dict[str, Any]:
    name = f"{session.view.dataset.id}-{len(session.view.exports) + 1}.{format}"
    session.view.exports.append(name)
    return {"file": name}
