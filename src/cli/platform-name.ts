import type { Settings } from '../config/settings.ts'

/**
 * What a ledger is tied to: the sandbox, or where the platform answers. A port of this machine says little, as it may be
 * another one each time: a sandbox of one's own, a proxy beside the program.
 */
export function platformName({
  sandbox,
  baseUrl,
}: Pick<Settings, 'sandbox' | 'baseUrl'>): string | undefined {
  if (sandbox) return 'the sandbox'
  if (baseUrl === undefined) return undefined
  const { protocol, hostname, origin, pathname } = new URL(baseUrl)
  const local = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return `${local ? `${protocol}//localhost` : origin}${pathname.replace(/\/+$/, '')}`
}
