import type { Limits } from './limits.ts'
import { parseBatch } from './parse-pool.ts'
import type { Batch } from './parse-pool.ts'

/* A process that parses the files that it is sent, after the limits for them, and answers in their order. */

process.once('message', (limits: Limits) => {
  process.on('message', (batch: Batch) => {
    process.send?.(parseBatch(batch, limits))
  })
})
