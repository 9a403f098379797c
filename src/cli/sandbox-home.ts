import { join } from 'node:path'

/** Where a sandbox run keeps its ledger, its data and its made-up secrets. */
export const SANDBOX_HOME = '.pipewright'

/** The ledger of a sandbox run, unless another is named. */
export const SANDBOX_LEDGER = join(SANDBOX_HOME, 'sandbox-ledger.db')
