#!/usr/bin/env python3
"""Fetches one folder of headers out of a source archive: fetch_headers.py URL SHA256 NAME FOLDER.

Takes every file under include/NAME/ of the archive and puts it under FOLDER/NAME, which appears only when complete.
"""
import hashlib
import io
import os
import shutil
import sys
import tarfile
import urllib.request


def main() -> None:
    url, sha256, name, folder = sys.argv[1:]
    data = urllib.request.urlopen(url, timeout=60).read()
    if hashlib.sha256(data).hexdigest() != sha256:
        sys.exit(f"{url} is not the file it should be: its SHA-256 differs")
    aside = os.path.join(folder, name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            _, found, path = member.name.partition(f"/include/{name}/")
            if not found or not member.isfile() or ".." in path.split("/"):
                continue
            target = os.path.join(aside, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(archive.extractfile(member).read())
    os.rename(aside, os.path.join(folder, name))


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"fetch_headers.py: {error}")
