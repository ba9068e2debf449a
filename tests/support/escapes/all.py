"""All escapes."""

from escapes import (authorities, claims, contents, documents, foreign, identities, links, lists, paths, races, ranks, replays,
                     units)

MODULES = (lists, paths, links, races, units, documents, authorities, foreign, contents, identities, ranks, replays, claims)
ESCAPES = [escape for module in MODULES for escape in module.ALL]
