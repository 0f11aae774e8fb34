// The page has no network. What the libraries load from elsewhere by themselves is here instead: files of npm packages
// from node_modules, the simulator's rooms from stand-ins/. A request for anything else goes out as it is, and fails.
(() => {
  const SWAPS = [
    [/^https:\/\/cdn\.jsdelivr\.net\/npm\/((?:@[^/]+\/)?[^@/]+)@[^/]+\//, './node_modules/$1/'],
    [/^https:\/\/cdn\.jsdelivr\.net\/gh\/xrblocks\/assets@[^/]+\/simulator\/scenes\/.*_planes\.json$/, './stand-ins/planes.json'],
    [/^https:\/\/cdn\.jsdelivr\.net\/gh\/xrblocks\/assets@[^/]+\/simulator\/scenes\/.*_navmesh\.glb$/, './stand-ins/navmesh.gltf'],
    [/^https:\/\/cdn\.jsdelivr\.net\/gh\/xrblocks\/assets@[^/]+\/simulator\/scenes\/.*\.glb$/, './stand-ins/room.gltf'],
    [/^https:\/\/cdn\.jsdelivr\.net\/gh\/xrblocks\/assets@[^/]+\/musicLibrary\/.*$/, './stand-ins/silence.wav'],
    [/^https:\/\/cdn\.jsdelivr\.net\/gh\/marella\/material-symbols@[^/]+\/svg\/.*\.svg$/, './stand-ins/icon.svg'],
  ];
  const swapped = (url) => {
    for (const [pattern, place] of SWAPS) {
      if (pattern.test(url)) return new URL(url.replace(pattern, place), document.baseURI).href;
    }
    return url;
  };
  const fetched = window.fetch.bind(window);
  window.fetch = (what, options) => {
    const url = what instanceof Request ? what.url : String(what);
    const place = swapped(url);
    if (place === url) return fetched(what, options);
    return fetched(what instanceof Request ? new Request(place, what) : place, options);
  };
  const opened = XMLHttpRequest.prototype.open;
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    return opened.call(this, method, swapped(String(url)), ...rest);
  };
})();
