/** Why a request is not answered as asked: an HTTP status, what is wrong, and what to do. */
export class Problem extends Error {
  readonly statusCode: number
  readonly hint: string
  readonly facts: Readonly<Record<string, unknown>>

  constructor(statusCode: number, message: string, hint: string, facts: Problem['facts'] = {}) {
    super(message)
    this.name = 'Problem'
    this.statusCode = statusCode
    this.hint = hint
    this.facts = facts
  }
}
