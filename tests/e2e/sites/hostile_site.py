"""Pages that break what a recorder relies on: replaced functions, an opened document, a frame that is written."""

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite

HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>…</title><link rel="icon" href="data:,">'
REPLACED = f"""{HEAD}<script>
  const [values, link] = [new Map([["a", {{ b: 1 }}]]), new URL("/here", location)];
  const answer = new Response("", {{ status: 418 }});
  const [members, together] = [new Set([1, "x"]), new AggregateError([new RangeError("one")], "all failed")];
  const finish = () => {{ document.title = "done"; }};
  const fail = () => {{ throw new SyntaxError("replaced"); }};
  const native = fetch;
  window.fetch = (...given) => native(...given);
  Error.prepareStackTrace = () => [1];
  Array.prototype.toJSON = () => "broken";
  for (const name of ["map", "filter", "slice", "reduce", "includes", "join"])
    Object.defineProperty(Array.prototype, name, {{ value: fail, configurable: true, writable: true }});
  String.prototype.slice = String.prototype.replace = RegExp.prototype.exec = fail;
  Map.prototype.get = Map.prototype.forEach = Set.prototype.forEach = fail;
  JSON = {{ stringify: fail, parse: fail }};
  Map = Set = URL = fail;
  console.log("values", values, members, link, answer, {{ deep: values }});
  console.log("odd", new Proxy({{}}, {{ ownKeys: fail }}));
  console.error(new Error("outer", {{ cause: new TypeError("inner") }}));
  console.error(together);
  console.group("in a group"); console.groupEnd();
  console.count(); console.count("clicks"); console.count("clicks");
  console.time("work"); console.timeEnd("work");
  console.dirxml("node");
  fetch("/data?from=replaced").finally(finish);
  setTimeout(() => {{ throw new Error("thrown late", {{ cause: "the cause" }}); }});
</script>"""
OPENED = f"""{HEAD}<p>before</p><script>
  const frame = document.createElement("iframe");
  document.body.append(frame);
  frame.contentDocument.open();
  frame.contentDocument.write("<script>console.info('in a written frame')<\\/script>");
  frame.contentDocument.close();
  console.info("before");
  addEventListener("load", () => setTimeout(() => {{
    const opened = frame.contentDocument.documentElement.outerHTML;
    document.open();
    document.write("<title>opened</title><button>Again</button>");
    document.write("<iframe></iframe>");
    document.close();
    console.info("after", opened.length > 0);
    setTimeout(() => {{ throw new RangeError("after opening"); }});
  }}));
</script>"""


class _Handler(SiteHandler):
    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/replaced":
                self.respond("text/html", REPLACED)
            case "/opened":
                self.respond("text/html", OPENED)
            case "/data":
                self.respond("application/json", "{}")
            case _:
                self.send_error(404)


class HostileSite(TwoOriginSite):
    """The site, running."""

    handler = _Handler
