"""Fail when a wheel holds anything but the package: ``python tools/check_wheel.py dist/*.whl``."""

from __future__ import annotations

import sys
import zipfile


def main(paths: list[str]) -> int:
    if not paths:
        print("give the wheel to check", file=sys.stderr)
        return 2
    for path in paths:
        names = zipfile.ZipFile(path).namelist()
        tops = {name.split("/")[0] for name in names}
        foreign = sorted(top for top in tops if top != "spgnn_dgl" and not top.endswith(".dist-info"))
        missing = {"spgnn_dgl/__init__.py", "spgnn_dgl/py.typed"} - set(names)
        if foreign or missing:
            print(f"{path}: must hold spgnn_dgl/ only; foreign: {foreign}, missing: {sorted(missing)}", file=sys.stderr)
            return 1
        print(f"{path}: {len(names)} files, spgnn_dgl/ only")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
