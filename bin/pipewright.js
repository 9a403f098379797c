#!/usr/bin/env node
import { existsSync } from 'node:fs'

/*
 * The command: what `npm start`, `npm run pipewright`, the image and the npm package start. A checkout runs its sources,
 * whatever a build left in dist/; the image and the package have no sources, and run the bundle.
 */
const sources = new URL('../src/main.ts', import.meta.url)
await import(existsSync(sources) ? sources : '../dist/pipewright.js')
