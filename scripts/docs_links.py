"""Hook of MkDocs (mkdocs.yml), so that links mean in the site what they mean on GitHub.

Headings get GitHub's anchors. Links to files outside docs/, such as ../LICENSE, lead to copies of these
files under files/ in the site. A link to a missing file or to a folder stays as it is, and
`mkdocs build --strict` refuses it.
"""

import os
import posixpath
import re

from mkdocs.structure.files import File

LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)\)")


def github_anchor(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = github_anchor
    return config


def on_page_markdown(markdown, page, config, files):
    root = os.path.dirname(os.path.abspath(config.config_file_path))
    here = posixpath.dirname(page.file.src_uri)

    def to_copy(match):
        target = posixpath.normpath(posixpath.join("docs", here, match[1]))
        path = os.path.join(root, target)
        if target.startswith(("docs/", "../")) or not os.path.isfile(path):
            return match[0]
        # MkDocs converts Markdown only inside docs/.
        uri = "files/" + target + (".txt" if target.endswith(".md") else "")
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, abs_src_path=path))
        return "](" + posixpath.relpath(uri, here or ".") + ")"

    return LINK.sub(to_copy, markdown)
