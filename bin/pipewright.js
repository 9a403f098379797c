#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/*
 * What `npm start`, `npm run pipewright` and the image start. `node src/main.ts` is the same, some 50 ms slower: to read a first
 * file in TypeScript Node loads all that strips types, although what it makes of our files is kept. Hence this one in JavaScript.
 */

// The same folder as in src/main.ts, where it is said why.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/pipewright', import.meta.url)))
await import('../src/main.ts')
