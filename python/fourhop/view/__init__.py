"""`fourhop view`: a trace on a page, as a map, time lines, a sequence diagram and plots.

`tables` reads the tables described in docs/trace.md, and `blobs` prepares them for the page, whose sources are in
view/. `page` puts both into one file, `server` serves them to a browser on this machine, and `live` does so during an
emulation.
"""

from fourhop.view.blobs import Blobs
from fourhop.view.page import write
from fourhop.view.server import Server
from fourhop.view.tables import Tables

__all__ = ["Blobs", "Server", "Tables", "write"]
