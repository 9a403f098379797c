import { createHash, timingSafeEqual } from 'node:crypto'
import type { ReconcileTrigger } from '../parts.ts'
import { RequestError } from '../replies.ts'

/**
 * Passes who shows the admin token: as a bearer token, or as the password of Basic credentials, which is all
 * that git-sync can send (`--webhook-url=http://git-sync:TOKEN@…`).
 * @throws {RequestError} 401 without the right token, 503 while there is none to compare with
 */
export async function authorize(header: string | undefined, trigger: ReconcileTrigger): Promise<void> {
  const expected = await readToken(trigger)
  if (expected === undefined) {
    throw new RequestError(
      503,
      'the admin token cannot be read',
      'Check the file that --admin-token-file names: it must be there, readable and not empty.',
    )
  }
  const given = tokenOf(header)
  if (given === undefined || !same(given, expected)) {
    throw new RequestError(
      401,
      given === undefined ? 'the admin token is missing' : 'the admin token is wrong',
      'Send "Authorization: Bearer TOKEN" with the content of the file that --admin-token-file names.',
    )
  }
}

/** An empty file is no token: it would let everybody in. */
async function readToken(trigger: ReconcileTrigger): Promise<string | undefined> {
  try {
    const token = (await trigger.adminToken())?.trim()
    return token === '' ? undefined : token
  } catch {
    return undefined
  }
}

function tokenOf(header: string | undefined): string | undefined {
  const [, scheme, credentials] = /^(bearer|basic) +(\S+) *$/i.exec(header ?? '') ?? []
  if (scheme === undefined || credentials === undefined) return undefined
  if (scheme.toLowerCase() === 'bearer') return credentials
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/** Compares digests, so that neither the time nor the length tells anything. */
function same(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
