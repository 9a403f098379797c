import { readFile } from 'node:fs/promises'
import type { Allowance } from '../contract/allowance.ts'
import type { Daemon } from '../daemon/daemon.ts'
import { allowCreations } from '../reconcile/operator/allow.ts'
import { seedStatus } from '../reconcile/state/status-board.ts'
import type { Engine } from './compose.ts'

/* What a person may ask of the daemon by its page, with the admin token. */

/** @returns the token that the file holds now */
export function tokenReader(file: string): () => Promise<string | undefined> {
  return async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    return text.trim() === '' ? undefined : text.trim()
  }
}

export function allowerOf(tokenFile: string, { context, board }: Engine, daemon: () => Daemon | undefined) {
  return {
    adminToken: tokenReader(tokenFile),
    async allow(allowance: Allowance) {
      const answer = await allowCreations(context, allowance)
      if (answer.is !== 'allowed' || allowance.mode !== 'write') return answer
      for (const key of answer.allowed) {
        seedStatus(context, board, key)
        daemon()?.request(key, 'normal')
      }
      return answer
    },
  }
}

export function triggerOf(tokenFile: string, daemon: () => Daemon | undefined) {
  return {
    adminToken: tokenReader(tokenFile),
    request(...asked: Parameters<Daemon['request']>) {
      return daemon()?.request(...asked) ?? { token: '', accepted: [], suspended: [] }
    },
    progress: (token: string) => daemon()?.progress(token),
  }
}
