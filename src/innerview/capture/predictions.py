"""What a subject says of given rows, as columns and arrays: every head, and the sites that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from innerview.capture.heads import HeadLayout, Values, predicted_heads
from innerview.capture.sites import SiteLayout, site_layout
from innerview.schema import ArraySpec, Column
from innerview.subjects import Output, Subject


@dataclass(frozen=True, kw_only=True)
class PredictionLayout:
    """What each row of predictions holds, beside which row of the recording it is about."""

    heads: HeadLayout
    sites: SiteLayout

    @property
    def columns(self) -> tuple[Column, ...]:
        """Of the heads."""
        return self.heads.columns

    @property
    def arrays(self) -> tuple[ArraySpec, ...]:
        """Of the heads, then of the sites."""
        return (*self.heads.arrays, *self.sites.arrays)

    def said(self, output: Output) -> Values:
        """Columns and arrays of a batch."""
        columns, arrays = self.heads.values(output)
        return columns, arrays | self.sites.values(output)


def prediction_layout(subject: Subject, output: Output, *, keep: Sequence[str] = ()) -> PredictionLayout:
    """Columns and arrays of predictions; shapes of sites are read off a first output."""
    heads = predicted_heads(subject.info, subject.acting_head)
    return PredictionLayout(heads=heads, sites=site_layout(subject.info, keep, output))
