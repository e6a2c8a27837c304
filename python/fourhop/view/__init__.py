"""`fourhop view`: a trace on a page, as a map, time lines, a sequence diagram and plots.

`tables` reads what docs/trace.md describes, `blobs` prepares it for the page, which view/ in the sources is; `page`
puts both into one file, `server` gives them to a browser on this machine, `live` while an emulation goes on.
"""

from fourhop.view.blobs import Blobs
from fourhop.view.page import write
from fourhop.view.server import Server
from fourhop.view.tables import Tables

__all__ = ["Blobs", "Server", "Tables", "write"]
