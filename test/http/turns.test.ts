import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createTurns, startsPerTurn } from '../../src/http/server/turns.js'
import { testApp } from './support/app.js'
import { open as connect, listen, readAll } from './support/sockets.js'

const open = () => {
  let nowMs = 0
  const turns = createTurns(() => nowMs)
  const spend = (milliseconds: number) => {
    nowMs += milliseconds
  }
  const begun: string[] = []
  const take = (caller: string, count = 1) => {
    for (let sent = 0; sent < count; sent += 1) turns.take(caller, () => void begun.push(caller))
  }
  /** As often as the sockets are read. */
  const pass = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return { turns, begun, take, pass, spend }
}

describe('callers that send requests at once', () => {
  it('do not wait while there is one', () => {
    const { begun, take } = open()
    take('alone', 100)
    expect(begun).toHaveLength(100)
  })

  it('take turns, so that one request is begun before a hundred of another caller', async () => {
    const { begun, take, pass } = open()
    take('good')
    take('hostile', 100)
    take('good')
    expect(begun).toEqual(['good'])
    await pass(2)
    expect(begun.indexOf('good', 1)).toBe(2)
    await pass(101)
    expect(begun).toHaveLength(102)
  })

  it('begin no more in a turn than one whose beginning takes as long as a turn', async () => {
    const { turns, pass, spend } = open()
    turns.note('merchant')
    let begun = 0
    for (let sent = 0; sent < 3; sent += 1) {
      turns.take('hostile', () => {
        begun += 1
        spend(1)
      })
    }
    await pass(1)
    expect(begun).toBe(1)
    await pass(2)
    expect(begun).toBe(3)
  })

  it('begin in the order in which each sent them', async () => {
    const { turns, take, pass } = open()
    const begun: number[] = []
    take('other')
    for (let sent = 0; sent < 20; sent += 1) turns.take('caller', () => void begun.push(sent))
    await pass(22)
    expect(begun).toEqual(Array.from({ length: 20 }, (_, sent) => sent))
  })

  it('wait beside those that take no turn as well', async () => {
    const { turns, begun, take, pass } = open()
    turns.note('merchant')
    take('hostile', 2 * startsPerTurn)
    expect(begun).toEqual([])
    await pass(1)
    expect(begun.length).toBeLessThanOrEqual(startsPerTurn)
    await pass(2 * startsPerTurn)
    expect(begun).toHaveLength(2 * startsPerTurn)
  })
})

describe('a request that is given up', () => {
  it('takes no turn', async () => {
    const { turns, begun, take, pass } = open()
    turns.note('merchant')
    const cancels = Array.from({ length: 100 }, () => turns.take('hostile', () => void begun.push('hostile')))
    take('good')
    for (const cancel of cancels) cancel?.()
    await pass(1)
    expect(begun).toEqual(['good'])
    take('good')
    await pass(1)
    expect(begun).toEqual(['good', 'good'])
  })
})

describe('requests of one packet', () => {
  const megabytes = Buffer.alloc(16 * 1_048_576)
  const packet = (client: string, count: number): string =>
    Array.from({ length: count }, (_, sent) => {
      const connection = sent + 1 === count ? 'close' : 'keep-alive'
      return `GET /supported HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nConnection: ${connection}\r\n\r\n`
    }).join('')

  /** How many were begun at most between two readings of the sockets. */
  const countTogether = async (packets: readonly string[]): Promise<number> => {
    const app = testApp({ trustProxy: ['127.0.0.1'] })
    let [begun, most] = [0, 0]
    app.addHook('onRequest', async () => {
      begun += 1
      most = Math.max(most, begun)
      setImmediate(() => {
        begun = 0
      })
      // Takes longer than a turn.
      createHash('sha256').update(megabytes).digest()
    })
    try {
      const port = await listen(app)
      for (const each of packets) {
        const socket = await connect(port)
        const answers = readAll(socket)
        socket.write(each)
        await answers
      }
      return most
    } finally {
      await app.close()
    }
  }

  it('are begun one by one beside another client', async () => {
    // A turn begins before the one before it is over for this count.
    expect(await countTogether([packet('203.0.113.9', 1), packet('203.0.113.10', 8)])).toBeLessThanOrEqual(2)
  })

  it('are begun together while there is no other client', async () => {
    expect(await countTogether([packet('203.0.113.10', 8)])).toBe(8)
  })
})
