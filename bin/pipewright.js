#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/*
 * The command: what `npm start`, `npx pipewright`, the image and the npm package start. A checkout runs its sources,
 * whatever a build left in dist/; the image and the package have no sources, and run the bundle.
 */
// Lookups of host names use at most half of these threads. A silent name server keeps some of them busy.
process.env.UV_THREADPOOL_SIZE ??= '16'
const sources = new URL('../src/main.ts', import.meta.url)
const isCheckout = existsSync(sources)
const lacksPackages = isCheckout && !existsSync(new URL('../node_modules', import.meta.url))
if (Number.parseInt(process.versions.node, 10) < 26) {
  // An older one would only say that it cannot read the file.
  const packaged = 'npm can bring it: npx --package=node@26 --package=pipewright pipewright'
  const checkout = 'In a checkout, "npx pipewright" finds the right one.'
  const found = isCheckout ? checkout : packaged
  fail(
    `this is Node ${process.versions.node}, at ${process.execPath}; Node 26 or newer is needed. ` +
      (lacksPackages ? `Run "npm ci" first, which brings it. ${found}` : found),
  )
}
try {
  // A second start reads compiled code from there, if the folder is writable. It takes half of the CPU time.
  const { enableCompileCache } = await import('node:module')
  const cache = isCheckout ? '../node_modules/.cache/pipewright' : '../dist/cache'
  if (!lacksPackages) enableCompileCache(fileURLToPath(new URL(cache, import.meta.url)))
  await import(isCheckout ? sources : '../dist/pipewright.js')
} catch (error) {
  if (!lacksPackages || error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
  fail('its packages are not installed. Run "npm ci" first.')
}

function fail(why) {
  process.stderr.write(`pipewright: ${why}\n`)
  process.exit(1)
}
