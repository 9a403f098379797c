import type { SecretReading } from '../contract/secrets.ts'
import { MORE_FILES } from '../lib/open-files.ts'
import type { Secret } from '../lib/secret.ts'
import { parseTarget, type WebhookUrl } from '../lib/webhook-url.ts'
import type { Target } from './delivery.ts'

/** Never throws. */
export async function readTarget(
  settings: {
    readonly webhookUrl: WebhookUrl
    readonly secretFile: string | undefined
    readonly allowInsecureHttp: boolean
  },
  readSecret: (file: string) => SecretReading | Promise<SecretReading>,
): Promise<Target> {
  const { webhookUrl, secretFile, allowInsecureHttp } = settings
  const reading = 'file' in webhookUrl ? await readSecret(webhookUrl.file) : undefined
  if (reading?.found === false) return { url: undefined, why: unreadable(reading) }
  const from = 'file' in webhookUrl ? `the URL in ${webhookUrl.file}` : '--webhook-url'
  const text = 'url' in webhookUrl ? webhookUrl.url.reveal() : (reading?.value.reveal() ?? '')
  const parsed = parseTarget(text, allowInsecureHttp)
  if (typeof parsed === 'string') return { url: undefined, why: `${from} ${parsed}` }
  if (secretFile === undefined) return { url: parsed, secret: undefined }
  const secret = await readSecret(secretFile)
  // No message is sent, because receivers must refuse unsigned messages.
  if (!secret.found) return { url: undefined, why: unreadable(secret) }
  return isSecret(secret.value)
    ? { url: parsed, secret: secret.value }
    : { url: undefined, why: `the secret in ${secretFile} must be base64 after whsec_` }
}

function isSecret(secret: Secret): boolean {
  const text = secret.reveal()
  return !text.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)
}

function unreadable({ file, why, misplaced }: SecretReading & { readonly found: false }): string {
  if (misplaced !== undefined)
    return `the file ${file} cannot be read, but ${misplaced} is in --secrets-dir. Move it to --credentials-dir`
  switch (why) {
    case 'no descriptor':
      return `the file ${file} could not be opened: too many open files. ${MORE_FILES}`
    case 'linked':
      return `the file ${file} links into --secrets-dir, where manifests could name it. Use another file`
    case 'credential': // happens only for secrets of sources
    case 'absent':
      return `there is no file ${file}`
    case 'unreadable':
      return `the file ${file} cannot be read, or is too large`
    case 'empty':
      return `the file ${file} is empty`
  }
}
