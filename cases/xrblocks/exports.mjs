// Prints what the packages export: of each module its names, of each class what stands in its declaration.
//
//   node exports.mjs NODE_MODULES
//
// What a package ships is the authority: the names are read from its modules, members from their declarations. Left out are
// types, what is private, and what a class inherits from another package (`THREE.Group`).
import {existsSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const MODULES = {
  'xrblocks': 'build/xrblocks',
  'xrblocks/addons/netblocks/src/index.js': 'build/addons/netblocks/src/index',
  'xrblocks/addons/virtualkeyboard/Keyboard.js': 'build/addons/virtualkeyboard/Keyboard',
  'xrblocks/addons/volumes/VolumetricCloud.js': 'build/addons/volumes/VolumetricCloud',
  'xrblocks/addons/utils/Palette.js': 'build/addons/utils/Palette',
  'xrblocks/addons/remote-control/index.js': 'build/addons/remote-control/index',
};
const packages = process.argv[2];

/** A source text without its comments. */
function read(path) {
  return readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
}

/** The names that a module exports, those that it passes on from others included. */
function names(path) {
  const text = read(path);
  const found = new Set();
  for (const [, list] of text.matchAll(/export\s*\{([^}]*)\}/g)) {
    for (const part of list.split(',')) {
      const words = part.match(/[\w$]+/g);
      if (words) found.add(words.at(-1));
    }
  }
  for (const [, name] of text.matchAll(
      /export\s+(?:default\s+)?(?:async\s+)?(?:class|function|const|let|var)\s+([\w$]+)/g)) {
    found.add(name);
  }
  for (const [, inner] of text.matchAll(/export\s*\*\s*from\s*['"](\.[^'"]+)['"]/g)) {
    for (const name of names(join(dirname(path), inner))) found.add(name);
  }
  return found;
}

/** The classes of a declaration file: name, base, members. */
function classes(path, seen = new Set()) {
  if (seen.has(path) || !existsSync(path)) return [];
  seen.add(path);
  const text = read(path);
  const found = [];
  const heads = /^(?:export )?(?:default )?(?:declare )?(?:abstract )?class (\w+)(?:<[^{]*?>)?(?: extends ([\w.]+))?[^{]*\{\n([\s\S]*?)^\}/gm;
  for (const [, name, base, body] of text.matchAll(heads)) {
    const members = new Set();
    for (const line of body.split('\n')) {
      const member = line.match(/^ {4}(?:static |readonly |abstract |get |set |async )*([a-zA-Z]\w*)\s*[?!]?[(:<;]/);
      if (member && !/^ {4}(?:private|protected)\b/.test(line)) members.add(member[1]);
    }
    members.delete('constructor');
    found.push([name, base, [...members]]);
  }
  for (const [, inner] of text.matchAll(/from\s*['"](\.[^'"]+)['"]/g)) {
    found.push(...classes(join(dirname(path), inner.replace(/\.js$/, '')) + '.d.ts', seen));
  }
  return found;
}

/** A list in lines of at most 118 characters. */
function lines(words, indent) {
  const found = [];
  for (const word of words) {
    if (found.length && found.at(-1).length + word.length + 2 <= 118) found[found.length - 1] += ` ${word},`;
    else found.push(`${indent}${word},`);
  }
  return found.join('\n').replace(/,$/, '');
}

console.log('What the packages export (names of types are left out).');
const exported = {};
for (const [module, path] of Object.entries(MODULES)) {
  const whole = join(packages, 'xrblocks', path);
  exported[module] = names(`${whole}.js`);
  console.log(`\n${module}:\n${lines([...exported[module]].sort(), '  ')}`);
}
console.log('\nWhat their classes declare, beside what they inherit.\n');
for (const [module, path] of Object.entries(MODULES)) {
  for (const [name, base, members] of classes(`${join(packages, 'xrblocks', path)}.d.ts`)) {
    if (exported[module].has(name) && members.length) {
      console.log(lines([`class ${name}${base ? ` extends ${base}` : ''}: ${members[0]}`, ...members.slice(1)], ''));
    }
  }
}
