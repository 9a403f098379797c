import { head, serviceManifest } from '../../support/manifests.ts'

/** A catalog before it is read: files by their names. */
export type Files = ReadonlyMap<string, string>

/** A catalog made to be slow, of about so many bytes. */
export type Shape = (bytes: number) => Files

export function idOf(n: number): string {
  return `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`
}

export function service(name: string, id = idOf(1)): string {
  return serviceManifest({ name, serviceId: id, secret: 'api' })
}

/** @param more lines before `spec`, and below it */
export function pipe(
  name: string,
  of: string,
  more: { readonly policy?: string; readonly spec?: string } = {},
): string {
  const policy = more.policy === undefined ? '' : `policy: ${more.policy}\n`
  return `${head('Pipe', name)}${policy}spec:\n  service: ${of}\n  source: {kafka: {brokers: "b:9092", topics: t}}\n${more.spec ?? ''}`
}

/** Documents, as many as there is room for, in files of up to 500; what stands in `first` comes before them. */
export function documents(
  bytes: number,
  document: (n: number) => string,
  first: readonly string[] = [],
): Files {
  const files = new Map<string, string>()
  if (first.length > 0) files.set('first.yaml', first.join('---\n'))
  let parts: string[] = []
  let size = first.reduce((sum, text) => sum + text.length, 0)
  const close = () => {
    if (parts.length > 0) files.set(`f${files.size}.yaml`, parts.join('---\n'))
    parts = []
  }
  for (let n = 0; size < bytes; n += 1) {
    const text = document(n)
    parts.push(text)
    size += text.length + 4
    if (parts.length === 500 || text.length > 100_000) close()
  }
  close()
  return files
}

/** One document with as many lines as there is room for; beyond 250 KB, one more of the kind. */
export function wide(
  bytes: number,
  begin: (n: number) => string,
  line: (n: number) => string,
  end = '',
): Files {
  const files = new Map<string, string>()
  const each = 250_000
  for (let left = bytes; left > 0; left -= each) {
    const size = Math.min(left, each)
    const lines = [begin(files.size)]
    let length = lines[0]?.length ?? 0
    for (let n = 0; length < size; n += 1) {
      const text = line(n)
      lines.push(text)
      length += text.length
    }
    files.set(`f${files.size}.yaml`, lines.join('') + end)
  }
  return files
}
