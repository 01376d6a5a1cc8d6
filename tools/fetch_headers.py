#!/usr/bin/env python3
"""Fetches one folder of headers out of a source archive or a wheel: fetch_headers.py URL SHA256 NAME FOLDER.

Takes every file under include/NAME/ of the archive and puts it under FOLDER/NAME, which appears only when complete. The
URL may be a file of this machine.
"""
import hashlib
import io
import os
import shutil
import sys
import tarfile
import urllib.request
import zipfile


def files_of(data):
    """(path, function that gives its content) of every file of a tar archive or, as wheels are, of a zip archive."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if not member.is_dir():
                    yield member.filename, lambda: archive.read(member)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            if member.isfile():
                yield member.name, lambda: archive.extractfile(member).read()


def main() -> None:
    url, sha256, name, folder = sys.argv[1:]
    if os.path.exists(url):
        with open(url, "rb") as file:
            data = file.read()
    else:
        data = urllib.request.urlopen(url, timeout=60).read()
    if hashlib.sha256(data).hexdigest() != sha256:
        sys.exit(f"{url} is not the file it should be: its SHA-256 differs")
    aside = os.path.join(folder, name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    for member, read in files_of(data):
        _, found, path = member.partition(f"/include/{name}/")
        if not found or ".." in path.split("/"):
            continue
        target = os.path.join(aside, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(read())
    os.rename(aside, os.path.join(folder, name))


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"fetch_headers.py: {error}")
