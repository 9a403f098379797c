import type { Journal } from './journal.ts'

/** Every planted secret begins with it, and nothing else does. */
export const PLANTED = 'pLaNt3dS3cr3t'

/** Looks for planted secrets in whatever the program puts out. */
export type Leaks = ReturnType<typeof createLeaks>

const CONTEXT = 60

export function createLeaks(journal: Journal) {
  const forms = new Set([PLANTED])
  let found = 0
  let scanned = 0

  function scan(where: string, text: string): void {
    scanned += text.length
    for (const form of forms) {
      const at = text.indexOf(form)
      if (at < 0) continue
      found += 1
      const around = text.slice(Math.max(0, at - CONTEXT), at + form.length + CONTEXT)
      journal.violate('leak', `a planted secret in ${where}: …${JSON.stringify(around)}…`)
    }
  }

  return {
    /** Adds a form in which a secret could come out, such as the base64 of a pair. */
    plant: (form: string) => void forms.add(form),
    scan,
    /** A scanner for a stream, that also sees what is cut in two by a chunk. */
    stream(where: string) {
      let tail = ''
      return (chunk: string) => {
        const text = tail + chunk
        scan(where, text)
        // long enough for every form, and without a whole one: what is found is told once
        tail = text.slice(-200)
        if ([...forms].some((form) => tail.includes(form))) tail = ''
      }
    },
    get found() {
      return found
    },
    get scanned() {
      return scanned
    },
  }
}
