/** What was stumbled over, and what to write instead. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bone may\b/i, 'you can'],
  [/\b(un)?well again\b|\bunwell\b|\ball is well\b/i, 'needs attention, is ready'],
  [/\bnot believed\b|\bis believed\b/i, 'not accepted, not confirmed, counts as'],
  [/cannot be relied on/i, 'The manifests directory is missing'],
  [/(goes|go|going) on by (itself|themselves)/i, 'continues automatically'],
  [/tried again by (itself|themselves)/i, 'is tried again automatically'],
  [/\bfrom now on\b/i, 'say what happened: Linked, Recorded'],
  [/settled by that/i, 'resolved'],
  [/left open/i, 'not in the manifest'],
  [/never returned/i, 'write-only'],
  [/(one thing is|things are) wrong/i, '1 problem'],
  [/wrong use/i, 'usage error'],
  [/\b(bugs? of ours|fault of ours|our fault)\b/i, 'internal error'],
  [/brake\b/i, 'create limit'],
  [/creations (are )?wanted|wanted at once/i, 'pending creates'],
  [/\btold\b/i, 'says, reports, notifies'],
  [/\banew\b/i, 'again'],
  [/looked at yet/i, 'not read yet'],
  [/no secret at/i, 'Secret file not found'],
  [/is created now|never created/i, 'Will be created'],
  [/the intent is written/i, 'Create attempt 1 recorded'],
  [/\bkin\b|\bowed\b/i, 'a word of the field'],
  [/everything stays as it was/i, 'keeping the last state'],
]

/** The banned phrases in a text, each with where it stands and what to write instead. */
export function bannedIn(text: string): readonly string[] {
  return text.split('\n').flatMap((line) =>
    BANNED.flatMap(([phrase, better]) => {
      const hit = phrase.exec(line)
      return hit === null ? [] : [`"${hit[0]}" (better: ${better}) in: ${line.trim()}`]
    }),
  )
}
