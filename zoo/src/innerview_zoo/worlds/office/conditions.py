"""What makes the stand-in for reality differ from the simulator; each gap has a switch of its own."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from innerview.errors import UnknownName, WorldError

GAPS: tuple[str, ...] = (
    "light",
    "white_balance",
    "exposure",
    "motion_blur",
    "depth_noise",
    "scan_errors",
    "moved_objects",
    "vanished_objects",
)


@dataclass(frozen=True, kw_only=True)
class Month:
    """How strong each gap is at one time of year."""

    lamps: float
    sky: float
    sun: float
    sun_azimuth: float
    sun_height: float
    tint: tuple[float, float, float]
    dark_rooms: tuple[str, ...]
    white_balance: tuple[float, float, float]
    exposure: float
    blur_px: float
    """Longest smear for an image of 256 pixels."""
    depth_sigma: float
    """Error at one metre as a share; it grows with the square of the distance."""
    depth_range_m: tuple[float, float]
    holes: float
    scan_m: float
    """How far things and walls are from where the scan has them."""
    moved: float
    """Share of loose things that stand elsewhere."""
    vanished: float
    closed_doors: tuple[int, ...]
    """Ids of doors that the scan has open."""


MONTHS: dict[int, Month] = {
    1: Month(
        lamps=0.8,
        sky=1.5,
        sun=1.1,
        sun_azimuth=0.25,
        sun_height=0.5,
        tint=(1.0, 0.97, 0.9),
        dark_rooms=("office 2",),
        white_balance=(1.12, 1.0, 0.84),
        exposure=0.86,
        blur_px=5.0,
        depth_sigma=0.0028,
        depth_range_m=(0.35, 7.0),
        holes=0.8,
        scan_m=0.03,
        moved=0.35,
        vanished=0.12,
        closed_doors=(),
    ),
    2: Month(
        lamps=1.0,
        sky=0.12,
        sun=0.0,
        sun_azimuth=-1.95,
        sun_height=0.4,
        tint=(1.06, 0.97, 0.82),
        dark_rooms=("office 5", "library"),
        white_balance=(0.88, 0.99, 1.16),
        exposure=0.8,
        blur_px=7.0,
        depth_sigma=0.0042,
        depth_range_m=(0.35, 5.5),
        holes=1.3,
        scan_m=0.04,
        moved=0.55,
        vanished=0.22,
        closed_doors=(400,),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """How far each gap is switched on: 0 is off, as in the simulator; 1 is as in that month; between is weaker."""

    month: int = 1
    light: float = 0.0
    """Lamps, sky and sun shine otherwise; some rooms are dark."""
    white_balance: float = 0.0
    """The camera's colours lean to one side."""
    exposure: float = 0.0
    """The camera's pictures are darker and vary a little."""
    motion_blur: float = 0.0
    """Pictures smear sideways as the robot turns. Depth and ids stay sharp."""
    depth_noise: float = 0.0
    """Depth is noisy, has holes (0) at edges and on glass, and ends at a range. Colour stays as it is."""
    scan_errors: float = 0.0
    """Things and walls are a few centimetres from where the scan has them."""
    moved_objects: float = 0.0
    """Loose things stand elsewhere, doors are open to another angle or closed."""
    vanished_objects: float = 0.0
    """Some loose things are gone."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.month not in MONTHS:
            raise WorldError(f"The stand-in for reality was taken in month 1 or 2, not {self.month!r}.")
        for gap in GAPS:
            if not 0 <= getattr(self, gap) <= 2:
                raise WorldError(f"{gap} goes from 0 (off) over 1 (as in that month) to 2, not {getattr(self, gap)!r}.")

    @classmethod
    def simulated(cls) -> Conditions:
        """Everything off: the simulator."""
        return cls()

    @classmethod
    def real(cls, month: int = 1) -> Conditions:
        """Everything on."""
        return cls(month=month, **dict.fromkeys(GAPS, 1.0))  # type: ignore[arg-type]

    @classmethod
    def of(cls, **given: object) -> Conditions:
        """Conditions by name; an unknown name gets an error with the nearest one."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownName("condition", name, known)
        return cls(**given)  # type: ignore[arg-type]

    def only(self, *gaps: str) -> Conditions:
        """The same with all other gaps off."""
        return replace(self, **{gap: 0.0 for gap in GAPS if gap not in _checked(gaps)})  # type: ignore[arg-type]

    def without(self, *gaps: str) -> Conditions:
        """The same with these gaps off."""
        return replace(self, **dict.fromkeys(_checked(gaps), 0.0))  # type: ignore[arg-type]

    @property
    def on(self) -> tuple[str, ...]:
        """Names of the gaps that are switched on."""
        return tuple(gap for gap in GAPS if getattr(self, gap) > 0)

    @property
    def of_month(self) -> Month:
        """How strong each gap is in this month."""
        return MONTHS[self.month]


def conditions_of(which: int) -> Conditions:
    """The conditions in which a trajectory was driven: 1 in the first month, 2 in the second."""
    if which not in MONTHS:
        raise WorldError(f"There are trajectories 1 and 2, not {which!r}.")
    return Conditions.real(month=which)


def _checked(gaps: tuple[str, ...]) -> tuple[str, ...]:
    for gap in gaps:
        if gap not in GAPS:
            raise UnknownName("gap", gap, GAPS)
    return gaps
