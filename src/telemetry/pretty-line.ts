import pinoPretty from 'pino-pretty'

/** Facts that stand in the words of a line, or that only machines want. */
const NOT_REPEATED = 'key,detail,reconcileId,revision'

/** Turns a line of JSON into one for people: time, level, what, which, why, and the other facts. */
export function createPrettyLine(options: { readonly colour: boolean }): (json: string) => string {
  // The factory and not the stream: a stream would hold lines back, and end its destination with itself.
  return pinoPretty.prettyFactory({
    colorize: options.colour,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    ignore: NOT_REPEATED,
    messageFormat: (log, messageKey) =>
      [log[messageKey], log['key'], log['detail'], shortRevision(log)]
        .filter(isText)
        .map(printable)
        .join(' · '),
  })
}

/** Only the line of a reading names the revision: to people, the others are noise. */
function shortRevision(log: Readonly<Record<string, unknown>>): string | undefined {
  const { revision } = log
  return 'manifests' in log && typeof revision === 'string' ? `revision ${revision.slice(0, 12)}` : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Texts of the platform must not move the cursor of a terminal, nor begin a new line. */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}
