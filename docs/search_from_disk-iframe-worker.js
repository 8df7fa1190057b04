// The search of the book is a worker, and browsers start no worker for a page that is read from disk.
// There a hidden frame takes its place: what is posted goes in, and what the script posts comes back.
// The theme loads this file instead of one from a server, because its name says `iframe-worker`.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    inside.importScripts = (...urls) =>
      urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
    this.ready = this.load(url);
  }

  load(url) {
    return new Promise((loaded, failed) => {
      const page = this.frame.contentDocument;
      const script = page.createElement("script");
      Object.assign(script, { src: url, onload: loaded, onerror: failed });
      page.body.append(script);
    });
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
}

window.IFrameWorker = IFrameWorker;
if (location.protocol === "file:") window.Worker = IFrameWorker;
