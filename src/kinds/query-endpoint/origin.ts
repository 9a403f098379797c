/** A host name of one or more labels; the last one begins with a letter, so that a broken IPv4 address is none. */
const DOMAIN = /^(?:\*\.)?(?:[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9])?\.)*[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const ENTRY = /^(?:([a-z][-a-z0-9+.]*):\/\/)?(\[[^\]]*\]|[^:/?#[\]@\s]*)(?::(\d{1,5}))?$/i

/** Whether a text is `*`, or a domain with or without scheme, port and a leading `*.`. */
export function isOrigin(text: string): boolean {
  if (text === '*') return true
  const parts = ENTRY.exec(text)
  if (parts === null) return false
  const [, , host = '', port] = parts
  return isHost(host) && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535))
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return URL.canParse(`http://${host}`)
  return host.length <= 253 && (DOMAIN.test(host) || IPV4.test(host))
}
