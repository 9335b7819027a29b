// Runs a program under MicroPython as WebAssembly, as `micropython PROGRAM ARGUMENT...` would.
// Arguments: MODULE HEAP_BYTES FOLDERS PROGRAM ARGUMENT...; the files of FOLDERS (joined by ":") are there to be read.
import fs from "node:fs";
import path from "node:path";

const [module, heap, folders, program, ...rest] = process.argv.slice(2);
const { loadMicroPython } = await import(module);
const micropython = await loadMicroPython({
  heapsize: Number(heap),
  linebuffer: true,
  stdout: (line) => process.stdout.write(line + "\n"),
  stderr: (line) => process.stderr.write(line + "\n"),
});

function copy(host) {
  if (fs.statSync(host).isDirectory()) {
    micropython.FS.mkdirTree(host);
    for (const name of fs.readdirSync(host)) copy(path.join(host, name));
  } else if (/\.(py|mpy|json|txt)$/.test(host)) {
    micropython.FS.writeFile(host, fs.readFileSync(host));
  }
}

for (const folder of folders.split(":")) copy(folder);
try {
  const text = JSON.stringify([program, ...rest]);
  micropython.runPython(`import sys\nsys.argv[:] = ${text}\nsys.path[:] = [${JSON.stringify(path.dirname(program))}, ".frozen"]`);
  micropython.runPython(fs.readFileSync(program, "utf8"));
} catch (error) {
  process.stderr.write(String(error.message ?? error) + "\n");
  process.exitCode = 1;
}
