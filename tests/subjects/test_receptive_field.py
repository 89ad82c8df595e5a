"""How far a cell sees, and where: kernels, strides and poolings add up as they do on paper, whatever lies between."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from innerview.subjects import ReceptiveField, receptive_field, subject


def test_how_far_a_cell_sees() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = nn.Sequential(
            nn.Conv2d(3, 4, 7, padding=3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 4, 5, padding=2),
            nn.ReLU(),
            nn.Conv2d(4, 4, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(4, 4, 3),
            nn.Flatten(),
            nn.Linear(4 * 5 * 13, 2),
        )
    agent = subject(module, example=torch.zeros(1, 3, 32, 64), heads="policy", actions=["left", "right"])
    # 7; a pooling sees one pixel more and doubles the steps: 8 + 4 · 2; 16 + 3 · 2; steps of 4: 22 + 2 · 4.
    wanted = {"0": 7, "1": 7, "2": 8, "3": 16, "4": 16, "5": 22, "6": 22, "7": 30}
    assert {layer: receptive_field(agent, layer).reach for layer in wanted} == wanted


def test_where_nothing_moves_a_layer_it_sees_one_pixel() -> None:
    class Blind(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.see, self.value = nn.Conv2d(1, 2, 3, padding=1), nn.Linear(2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(self.value(self.see(x * 0).mean((2, 3))))

    agent = subject(Blind(), example=torch.zeros(1, 1, 8, 8), heads="value")
    assert receptive_field(agent, "see").reach == 1


def test_without_padding_cells_keep_away_from_the_edges() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = nn.Sequential(
            nn.Conv2d(4, 8, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(8, 8, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3),
            nn.Flatten(),
            nn.Linear(8 * 49, 2),
        )
    agent = subject(module, example=torch.zeros(1, 4, 84, 84), heads="policy", actions=["left", "right"])
    # Middles at 4, 8, …; at 4 + 6 and on by 8; at 10 + 8 and on by 8.
    for layer, first, stride in (("0", 4, 4), ("2", 10, 8), ("4", 18, 8)):
        found = receptive_field(agent, layer)
        assert found.first == pytest.approx((first / 84, first / 84))
        assert found.stride == pytest.approx((stride / 84, stride / 84))


def test_with_padding_cells_part_the_picture_evenly() -> None:
    module = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(2 * 24, 2))
    agent = subject(module, example=torch.zeros(1, 1, 8, 12), heads="policy", actions=["left", "right"])
    assert receptive_field(agent, "0") == ReceptiveField.even((8, 12), 3) and receptive_field(agent, "1").is_even(
        (4, 6)
    )


def test_values_of_cells_are_visualised_where_they_look() -> None:
    cells = torch.rand(2, 1, 4, 6, generator=torch.Generator().manual_seed(0))
    evenly = torch.nn.functional.interpolate(cells, (8, 12), mode="bilinear", align_corners=False)
    torch.testing.assert_close(ReceptiveField.even((4, 6), 3).pictured(cells, (8, 12)), evenly)
    away = ReceptiveField(2, (3 / 8, 3 / 12), (1 / 8, 1 / 12)).pictured(cells, (8, 12))
    torch.testing.assert_close(away[..., 2:7, 2:9], torch.nn.functional.avg_pool2d(_doubled(cells), 2, stride=1))


def _doubled(cells: torch.Tensor) -> torch.Tensor:
    """With the edges once more: between two middles lies their mean."""
    return torch.nn.functional.pad(cells, (1, 1, 1, 1), mode="replicate")
