/** One thing that happened, in words. */
export interface Note {
  /** ms since the epoch. */
  readonly at: number
  /** The pipe that it is about, by its name on the platform; undefined for what concerns all, such as a kill. */
  readonly subject: string | undefined
  readonly what: string
}

export interface Violation {
  readonly law:
    | 'duplicate'
    | 'unapproved-post'
    | 'lost'
    | 'ghost'
    | 'wrongly-unknown'
    | 'wrongly-missing'
    | 'leak'
    | 'wrong-change'
    | 'left-stopped'
    | 'budget'
    | 'deleted'
    | 'unsettled'
    | 'process'
  readonly subject: string | undefined
  readonly what: string
}

/** What we did and saw; the material of a failure's history. */
export type Journal = ReturnType<typeof createJournal>

const MOST_VIOLATIONS = 200

export function createJournal() {
  const notes: Note[] = []
  const violations = new Map<string, Violation>()
  return {
    notes,
    note: (subject: string | undefined, what: string) => void notes.push({ at: Date.now(), subject, what }),
    /** @param subject as that of a note */
    violate(law: Violation['law'], what: string, subject?: string) {
      const id = `${law} ${subject ?? ''} ${what}`
      if (violations.has(id) || violations.size >= MOST_VIOLATIONS) return
      violations.set(id, { law, subject, what })
      notes.push({ at: Date.now(), subject, what: `VIOLATION ${law}: ${what}` })
    },
    get violations() {
      return [...violations.values()]
    },
  }
}
