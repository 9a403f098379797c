#!/usr/bin/env node
import { existsSync } from 'node:fs'

/*
 * The command: what `npm start`, `npx pipewright`, the image and the npm package start. A checkout runs its sources,
 * whatever a build left in dist/; the image and the package have no sources, and run the bundle.
 */
if (Number.parseInt(process.versions.node, 10) < 26) {
  // An older one would only say that it cannot read the file.
  process.stderr.write(
    `pipewright: this is Node ${process.versions.node}, at ${process.execPath}; Node 26 or newer is needed. ` +
      'In a checkout, "npx pipewright" finds the right one.\n',
  )
  process.exit(1)
}
const sources = new URL('../src/main.ts', import.meta.url)
await import(existsSync(sources) ? sources : '../dist/pipewright.js')
