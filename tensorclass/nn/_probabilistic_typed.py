"""ProbabilisticModule: a distribution head from class to class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch import Tensor
from torch.distributions import Distribution

from .._rules import errors
from .._settings import FLAGS
from .._tensorclass import TensorClass
from ._ends import declared, has_default
from ._interaction import InteractionType, interaction_of
from ._typed import In, Out, TensorClassModuleBase, ends_of
from ._values import value_of

LOG_PROB = "log_prob"


class ProbabilisticModule(TensorClassModuleBase[In, Out]):
    """Makes a distribution of parameters and takes a value from it, by the interaction type.

    >>> from torch.distributions import Normal
    >>> class Params(TensorClass):
    ...     loc: torch.Tensor
    ...     scale: torch.Tensor
    >>> class Action(TensorClass):
    ...     action: torch.Tensor
    ...     log_prob: torch.Tensor | None = None
    >>> class Head(ProbabilisticModule[Params, Action]):
    ...     def dist(self, x: Params) -> Normal:
    ...         return Normal(x.loc, x.scale)
    >>> Head()(Params(loc=torch.ones(3), scale=torch.ones(3), batch_size=[3])).action
    tensor([1., 1., 1.])

    The output class has one field for the value; a field `log_prob` beside it gets the log-probability.
    """

    def __init__(
        self,
        default_interaction_type: InteractionType | str = InteractionType.DETERMINISTIC,
        n_empirical_estimate: int = 1000,
    ) -> None:
        super().__init__()
        self.default_interaction_type = interaction_of(default_interaction_type)
        self.n_empirical_estimate = n_empirical_estimate

    @abstractmethod
    def dist(self, x: In, /) -> Distribution:
        """The distribution that parameters make."""
        raise NotImplementedError

    def forward(self, x: In, /) -> Out:
        """A value of the distribution."""
        cls = ends_of(self)[1]
        dist = self.dist(x)
        kind = self.default_interaction_type if FLAGS.interaction is None else FLAGS.interaction
        value = value_of(dist, kind, (), self.n_empirical_estimate)
        fields = {value_field(cls): value}
        if LOG_PROB in declared(cls):
            fields[LOG_PROB] = dist.log_prob(value)
        given: Any = x
        return cls(**fields, batch_size=given.batch_size)  # type: ignore[no-any-return]  # The output class.

    def log_prob(self, x: In, sample: Any, /) -> Tensor:
        """The log-probability of a value, under the distribution that parameters make."""
        value = getattr(sample, value_field(ends_of(self)[1]))
        found: Tensor = self.dist(x).log_prob(value)
        return found


def value_field(cls: type[TensorClass]) -> str:
    """The field of an output class that holds the value: the one that must be given."""
    names = [name for name in declared(cls) if name != LOG_PROB and not has_default(cls, name)]
    if len(names) != 1:
        raise errors.KindError(
            f"{cls.__name__}: {errors.count(len(names), 'field')} without default ({errors.some_names(names)}); "
            "the output of a ProbabilisticModule has one, for the value"
        )
    return names[0]
