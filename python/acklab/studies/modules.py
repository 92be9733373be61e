"""Loads the code of a study.

Its folder is a package, in which `study.py` may import other modules.
"""

import importlib.util
import sys
import zlib
from types import ModuleType

from acklab.studies.definition import Study


def load_module(study: Study) -> ModuleType | None:
    """Returns the `study.py` of a study, or None if it has none.

    The file is executed once, like any module. It imports modules of its folder by
    `from .other import …`. Its name in `sys.modules` includes the folder, so that two studies of
    the same name are two modules.
    """
    path = study.folder.resolve() / "study.py"
    if not path.is_file():
        return None
    name = f"acklab_study_{study.name}_{zlib.crc32(str(path).encode()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
