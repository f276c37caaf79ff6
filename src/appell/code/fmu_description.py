"""What an FMU says about itself: `modelDescription.xml` of FMI 2.0."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from xml.etree import ElementTree as ET

from appell.errors import ModelError


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU; its reference is its place among all.

    Attributes:
        name: As it is called.
        kind: `"state"`, `"rate"` (of the state as far from the first rate as it from the first state), `"input"`,
            `"fixed"` or `"tunable"` (parameters), `"output"`.
        unit: Of its values, if known.
        words: What it is.
        start: What it has at first, but for what is computed.
    """

    name: str
    kind: str
    unit: str = ""
    words: str = ""
    start: float | None = None


@dataclass(frozen=True, kw_only=True)
class Description:
    """All that an FMU says about itself.

    Attributes:
        name: The identifier of the model.
        guid: What library and description have in common.
        words: What the model is.
        variables: In the order of their references: states, rates, inputs, parameters, further outputs.
        switches: How many event indicators there are.
        start, until, tolerance: What a run would be like.
    """

    name: str
    guid: str
    words: str
    variables: tuple[Variable, ...]
    switches: int
    start: float
    until: float
    tolerance: float


KINDS = {  # causality, variability and initial of each kind
    "state": ("output", "continuous", "exact"),
    "rate": ("local", "continuous", None),
    "input": ("input", "continuous", None),
    "fixed": ("parameter", "fixed", None),
    "tunable": ("parameter", "tunable", None),
    "output": ("output", "continuous", None),
}
ABILITIES = {
    name: "true"
    for name in (
        "canNotUseMemoryManagementFunctions", "canGetAndSetFMUstate", "canSerializeFMUstate",
        "providesDirectionalDerivative",
    )
}  # fmt: skip


def check_names(variables: tuple[Variable, ...]) -> None:
    """Refuse variables of the same name."""
    names = [v.name for v in variables]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(f"Names in an FMU must differ; rename one of those called {', '.join(twice)}.")


def described(d: Description) -> bytes:
    """The file, as bytes."""
    root = ET.Element(
        "fmiModelDescription", fmiVersion="2.0", modelName=d.name, guid=d.guid, description=d.words,
        generationTool=f"appell {version('appell')}", variableNamingConvention="flat",
        numberOfEventIndicators=str(d.switches),
    )  # fmt: skip
    for kind, more in (("ModelExchange", {}), ("CoSimulation", {"canHandleVariableCommunicationStepSize": "true"})):
        how = ET.SubElement(root, kind, modelIdentifier=d.name, **more, **ABILITIES)
        ET.SubElement(ET.SubElement(how, "SourceFiles"), "File", name="all.c")
    if units := sorted({v.unit for v in d.variables} - {""}):
        listed = ET.SubElement(root, "UnitDefinitions")
        for unit in units:
            ET.SubElement(listed, "Unit", name=unit)
    categories = ET.SubElement(root, "LogCategories")
    ET.SubElement(categories, "Category", name="error")
    ET.SubElement(
        root, "DefaultExperiment", startTime=repr(d.start), stopTime=repr(d.until), tolerance=repr(d.tolerance)
    )
    listed = ET.SubElement(root, "ModelVariables")
    first_rate = next((i for i, v in enumerate(d.variables) if v.kind == "rate"), 0)
    for reference, v in enumerate(d.variables):
        _add(listed, v, reference, reference - first_rate + 1 if v.kind == "rate" else None)
    structure = ET.SubElement(root, "ModelStructure")
    rates, outputs = (
        [i + 1 for i, v in enumerate(d.variables) if v.kind in kinds] for kinds in (("rate",), ("state", "output"))
    )
    computed = [i + 1 for i, v in enumerate(d.variables) if v.kind in ("rate", "output")]
    for name, indices in (("Outputs", outputs), ("Derivatives", rates), ("InitialUnknowns", computed)):
        if indices:
            part = ET.SubElement(structure, name)
            for index in indices:
                ET.SubElement(part, "Unknown", index=str(index))
    ET.indent(root)
    return ET.tostring(root, encoding="UTF-8", xml_declaration=True)


def _add(listed: ET.Element, v: Variable, reference: int, derivative: int | None) -> None:
    causality, variability, initial = KINDS[v.kind]
    about = {"name": v.name, "valueReference": str(reference), "causality": causality, "variability": variability}
    about |= {"initial": initial} if initial else {}
    about |= {"description": v.words} if v.words else {}
    real = {"unit": v.unit} if v.unit else {}
    real |= {} if v.start is None else {"start": repr(v.start)}
    real |= {} if derivative is None else {"derivative": str(derivative)}
    ET.SubElement(ET.SubElement(listed, "ScalarVariable", about), "Real", real)
