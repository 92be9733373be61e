// A page that is opened from disk may start no worker, so the search of the site runs in a hidden frame instead. Material for MkDocs looks
// for `IFrameWorker` in the parent of such a frame, and then waits for `importScripts`.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      const load = (address) => new Promise((done, failed) => {
        const script = frame.contentDocument.createElement("script");
        script.src = address;
        script.onload = done;
        script.onerror = failed;
        frame.contentDocument.body.append(script);
      });
      this.inner.importScripts = (...addresses) => addresses.reduce((before, one) => before.then(() => load(one)), Promise.resolve());
      this.inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => {
        const event = new this.inner.MessageEvent("message", { data });
        this.inner.dispatchEvent(event);
        this.inner.onmessage?.(event);
      });
    }

    terminate() { this.inner.frameElement.remove(); }
  };
}
