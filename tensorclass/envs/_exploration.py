"""What a policy does with its distribution: the settings of the modules, under the names that environments have."""

from __future__ import annotations

from ..nn import InteractionType, interaction_type, set_interaction_type

ExplorationType = InteractionType
set_exploration_type = set_interaction_type
exploration_type = interaction_type

__all__ = ["ExplorationType", "exploration_type", "set_exploration_type"]
