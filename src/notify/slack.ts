import { pageOf, plain, type Message, type MessageContext } from './message.ts'
import { shortRevision } from '../contract/revision.ts'
import { sentenceOf, type Notification } from './notification.ts'

/** Notification listed in one message: Slack takes 50 blocks, and nobody reads so many. */
export const MOST_IN_SLACK = 15

/** Slack takes 3,000 characters a text, all parts of it together and escaped. */
const LONGEST = { sentence: 500, message: 1_400, step: 500, fact: 150 } as const

const SIGNS: Readonly<Record<Notification['change'], string>> = {
  bad: ':warning:',
  created: ':sparkles:',
  good: ':white_check_mark:',
  forgotten: ':white_check_mark:',
}

/** The body of Slack's incoming webhook: a text for the notification, and blocks to read. */
export function slackBody(message: Message, context: MessageContext): string {
  const { sentence, listed, more, total } = message
  const sandbox = context.sandbox ? ' (sandbox)' : ''
  const page = pageOf(context, undefined)
  const single = total === 1
  const tail = more > 0 ? [`…and ${more} more.`] : []
  const link = page !== undefined && !single ? [`<${page}|Open the page>`] : []
  return JSON.stringify({
    text: `${escape(sentence, LONGEST.message)}${sandbox}`,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      ...(single ? [] : [section(`*${escape(sentence, LONGEST.message)}*${sandbox}`)]),
      ...listed.map((notification) => section(wordsOf(notification, context))),
      ...(tail.length + link.length > 0 ? [section([...tail, ...link].join(' '))] : []),
    ],
  })
}

function wordsOf(notification: Notification, context: MessageContext): string {
  const { change, severity, file, line, revision, reason } = notification
  const sign = change === 'bad' && severity === 'critical' ? ':rotating_light:' : SIGNS[change]
  const step = change === 'bad' ? context.nextStep(notification.key) : undefined
  const place = file === undefined ? [] : [`${file}${line === undefined ? '' : `:${line}`}`]
  const facts = [
    ...(reason === undefined ? [] : [reason]),
    ...place,
    ...(revision === undefined || revision === '' ? [] : [`revision ${shortRevision(revision)}`]),
  ].map((fact) => escape(fact, LONGEST.fact))
  const page = pageOf(context, notification)
  if (page !== undefined) facts.push(`<${page}|page>`)
  return [
    `${sign} *${escape(sentenceOf(notification), LONGEST.sentence)}*`,
    ...(change === 'bad' ? [escape(notification.message, LONGEST.message)] : []),
    ...(step === undefined ? [] : [`Next: ${escape(step, LONGEST.step)}`]),
    facts.join(' · '),
  ].join('\n')
}

/** `verbatim`: names of people and channels in texts of others are not made into mentions, nor addresses into links. */
function section(text: string) {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }
}

/** The three characters with which Slack's own markup begins, escaped; at most `most` characters with that. */
function escape(text: string, most: number): string {
  let escaped = ''
  for (const character of plain(text, most)) {
    const next = ESCAPES.get(character) ?? character
    if (escaped.length + next.length > most) return escaped
    escaped += next
  }
  return escaped
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
])
