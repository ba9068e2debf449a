"""What boots within a `with` statement, and is gone after it."""

from abc import ABC, abstractmethod
from typing import Self


class Machine(ABC):
    @abstractmethod
    def boot(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        try:
            self.boot()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.close()
