import { readFile } from 'node:fs/promises'
import type { Allowance } from '../contract/allowance.ts'
import type { Daemon } from '../daemon/daemon.ts'
import { allowBlocked } from '../reconcile/operator/allow.ts'
import { seedStatus } from '../reconcile/state/status-board.ts'
import type { Engine } from './compose.ts'

/* They need the admin token. */

type TokenReader = () => Promise<string | undefined>

/** Reads the file again each time. */
export function tokenReader(file: string): TokenReader {
  return async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    return text.trim() === '' ? undefined : text.trim()
  }
}

export function allowerOf(
  adminToken: TokenReader,
  { context, board }: Engine,
  daemon: () => Daemon | undefined,
) {
  return {
    adminToken,
    async allow(allowance: Allowance) {
      const answer = await allowBlocked(context, allowance)
      if (answer.is !== 'allowed' || allowance.dryRun) return answer
      for (const key of answer.allowed) {
        seedStatus(context, board, key)
        daemon()?.request(key, 'normal')
      }
      return answer
    },
  }
}

export function triggerOf(adminToken: TokenReader, daemon: () => Daemon | undefined) {
  return {
    adminToken,
    request(...asked: Parameters<Daemon['request']>) {
      return daemon()?.request(...asked) ?? { token: '', accepted: [], suspended: [] }
    },
    progress: (token: string) => daemon()?.progress(token),
  }
}
