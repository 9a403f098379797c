import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fits } from '../../src/notify/filter.ts'
import { messageOf } from '../../src/notify/message.ts'
import { sentenceOf, summaryOf, type Notification } from '../../src/notify/notification.ts'
import { slackBody } from '../../src/notify/slack.ts'
import { readSentStates, writeSentStates, type SentState } from '../../src/notify/sent-state.ts'
import { signedHeaders, webhookBody } from '../../src/notify/webhook.ts'
import { Secret } from '../../src/lib/secret.ts'
import { CONTEXT, item } from './given.ts'
import { cpuMsOf } from '../support/cpu.ts'

const AT = Date.UTC(2026, 5, 1, 12)

function many(count: number): readonly Notification[] {
  return Array.from({ length: count }, (_, index) => item({ id: `n-${index}`, key: `Pipe/p${index}` }))
}

describe('globs', () => {
  test.each([
    ['orders', 'orders', true],
    ['orders', 'orders-1', false],
    ['orders*', 'orders-1', true],
    ['*orders', 'my-orders', true],
    ['o*s', 'orders', true],
    ['o?ders', 'orders', true],
    ['o?ders', 'oders', false],
    ['*', '', true],
    ['a*b*c', 'aXbXbXc', true],
    ['a*b*c', 'aXbXb', false],
    ['a.c', 'abc', false],
    ['', '', true],
    ['', 'a', false],
  ])('%s on %s: %s', (glob, text, expected) => {
    expect(fits(glob, text)).toBe(expected)
  })

  test('do not take their time over hostile ones', () => {
    const cost = cpuMsOf(() => expect(fits(`${'*a'.repeat(120)}*b`, 'a'.repeat(250))).toBe(false))
    expect(cost).toBeLessThan(1_000)
  })
})

describe('sentences', () => {
  test.each([
    [item({ status: 'Missing' }), 'Pipe/orders is missing on the platform.'],
    [item({ status: 'OutcomeUnknown' }), 'Pipe/orders may or may not have been created.'],
    [item({ changes: 5 }), 'Pipe/orders has drifted, after 5 changes.'],
    [item({ change: 'good', status: 'Ready' }), 'Pipe/orders is ready again.'],
    [item({ change: 'created', status: 'Progressing' }), 'Pipe/orders was created.'],
    [item({ change: 'forgotten', status: undefined }), 'Pipe/orders was forgotten.'],
    [
      item({ change: 'good', status: 'Suspended', before: { status: 'Missing', reason: 'Missing' } }),
      'Pipe/orders is no longer Missing: it is suspended.',
    ],
  ])('%#', (news, expected) => {
    expect(sentenceOf(news)).toBe(expected)
  })

  test('count when there are many', () => {
    const news = [...many(3), item({ change: 'good', status: 'Ready' }), item({ change: 'created' })]
    expect(summaryOf(news)).toBe('3 resources need attention, 1 problem is over, 1 resource was created.')
  })
})

describe('a webhook', () => {
  test('says what, since when, because of what, where, and what to do', () => {
    const message = messageOf([item({ labels: { team: 'payments' } })], { at: AT, most: 10 })
    expect(JSON.parse(webhookBody(message, CONTEXT))).toEqual({
      version: 1,
      id: message.id,
      time: '2026-06-01T12:00:00.000Z',
      sentence: 'Pipe/orders has drifted.',
      total: 1,
      counts: { bad: 1, created: 0, good: 0, forgotten: 0 },
      more: 0,
      page: 'https://pipes.example/',
      sender: { app: 'pipewright', version: '9.9.9', sandbox: false },
      news: [
        {
          id: 'n-1',
          key: 'Pipe/orders',
          kind: 'Pipe',
          name: 'orders',
          labels: { team: 'payments' },
          change: 'bad',
          severity: 'warning',
          sentence: 'Pipe/orders has drifted.',
          status: 'Drifted',
          condition: 'Synced',
          reason: 'Drifted',
          message: 'scaling.replicas differs',
          nextStep: 'Look: pipewright status Pipe/orders',
          changes: 1,
          since: '1970-01-01T00:00:01.000Z',
          revision: '4faf373abc0011223344556677889900aabbccdd',
          file: 'orders.yaml',
          line: 3,
          page: 'https://pipes.example/?resource=Pipe/orders',
        },
      ],
    })
  })

  test('counts also what it does not list', () => {
    const body = JSON.parse(webhookBody(messageOf(many(7), { at: AT, most: 3 }), CONTEXT))
    expect(body).toMatchObject({ total: 7, more: 4, counts: { bad: 7 } })
  })

  test('bounds and cleans texts of others', () => {
    const news = item({ message: `a\u0000\u001B[31m${'x'.repeat(10_000)}\uD800` })
    const body = JSON.parse(webhookBody(messageOf([news], { at: AT, most: 1 }), CONTEXT)) as {
      news: { message: string }[]
    }
    expect(body.news[0]?.message).toMatch(/^a {2}\[31mx+…$/)
    expect(body.news[0]?.message).toHaveLength(2_500)
  })

  test('is signed over id, time and body, as Standard Webhooks says', () => {
    const headers = signedHeaders({ id: 'm-1', body: '{"a":1}' }, new Secret('the key'), AT + 999)
    const signature = createHmac('sha256', 'the key')
      .update(`m-1.${AT / 1_000}.{"a":1}`)
      .digest('base64')
    expect(headers).toEqual({
      'webhook-id': 'm-1',
      'webhook-timestamp': String(AT / 1_000),
      'webhook-signature': `v1,${signature}`,
    })
  })

  test('matches the example of Standard Webhooks', () => {
    // standard-webhooks/spec: the same id, time, body and key give the same signature
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
    const body = '{"test": 2432232314}'
    const key = new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const headers = signedHeaders({ id, body }, key, 1_614_265_330_000)
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test('is not signed without a key', () => {
    expect(signedHeaders({ id: 'm', body: '' }, undefined, AT)).not.toHaveProperty('webhook-signature')
  })
})

interface Slack {
  readonly text: string
  readonly blocks: readonly {
    readonly text: { readonly type: string; readonly text: string; readonly verbatim: boolean }
  }[]
}

function slack(news: readonly Notification[], most = 15): Slack {
  return JSON.parse(slackBody(messageOf(news, { at: AT, most }), CONTEXT)) as Slack
}

describe('Slack', () => {
  test('shows one resource as one block', () => {
    const { text, blocks } = slack([item()])
    expect(text).toBe('Pipe/orders has drifted.')
    expect(blocks.map((block) => block.text.text)).toEqual([
      ':warning: *Pipe/orders has drifted.*\nscaling.replicas differs\nNext: Look: pipewright status Pipe/orders\n' +
        'Drifted · orders.yaml:3 · revision 4faf373abc · <https://pipes.example/?resource=Pipe/orders|page>',
    ])
  })

  test('shows many as a sentence, a list and how many more', () => {
    const { text, blocks } = slack(many(40))
    expect(text).toBe('40 resources need attention.')
    expect(blocks).toHaveLength(17)
    expect(blocks.at(-1)?.text.text).toBe('…and 25 more. <https://pipes.example/|Open the page>')
  })

  test('takes no mention, link or markup from texts of others', () => {
    const { text, blocks } = slack([item({ message: '<!channel> <https://evil.example|here> & @here' })])
    expect(JSON.stringify({ text, blocks })).not.toMatch(/<!|<https:\/\/evil/)
    expect(blocks[0]?.text.text).toContain('&lt;!channel&gt; &lt;https://evil.example|here&gt; &amp; @here')
    expect(blocks[0]?.text.verbatim).toBe(true)
  })

  test('stays within 3,000 characters a text and 50 blocks, whatever they hold', () => {
    const long = '<&>'.repeat(5_000)
    const worst = item({ message: long, file: long, revision: long })
    const context = { ...CONTEXT, nextStep: () => long }
    const body = JSON.parse(
      slackBody(
        messageOf(
          Array.from({ length: 99 }, () => worst),
          { at: AT, most: 15 },
        ),
        context,
      ),
    ) as Slack
    expect(body.blocks.length).toBeLessThanOrEqual(50)
    for (const { text } of body.blocks) expect(text.text.length).toBeLessThanOrEqual(3_000)
  })
})

describe('what was sent', () => {
  const targets = new Map<string, SentState>([
    [
      'on-call',
      {
        createdUntil: 5,
        alerts: new Map([
          [
            'Pipe/orders',
            {
              state: 'Missing Synced Missing',
              status: 'Missing',
              condition: 'Synced',
              reason: 'Missing',
              severity: 'critical',
            },
          ],
        ]),
      },
    ],
  ])

  test('is read as it was written', () => {
    expect(readSentStates(writeSentStates(targets))).toEqual(targets)
  })

  test.each([
    ['nothing', ''],
    ['half a file', writeSentStates(targets).slice(0, 60)],
    ['another version', writeSentStates(targets).replace('"version":1', '"version":2')],
    ['a reason that is none', writeSentStates(targets).replace('"reason":"Missing"', '"reason":"toString"')],
  ])('is not believed when it is %s', (_, text) => {
    expect(readSentStates(text)).toBeUndefined()
  })
})
