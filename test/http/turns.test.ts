import { createHash } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Caller, createTurns, maxAcceptedBetween, startsPerTurn } from '../../src/http/server/turns.js'
import { testApp } from './support/app.js'
import { open as connect, listen, readAll } from './support/sockets.js'

const open = () => {
  let nowMs = 0
  const turns = createTurns(() => nowMs)
  const spend = (milliseconds: number) => {
    nowMs += milliseconds
  }
  const begun: string[] = []
  const begin = (caller: Caller, start: () => void = () => void begun.push(nameOf(caller))) => {
    const request = new IncomingMessage(new Socket())
    return { request, cancel: turns.begin(request, caller, start) }
  }
  const take = (caller: Caller, count = 1) => {
    for (let sent = 0; sent < count; sent += 1) begin(caller)
  }
  /** As often as the sockets are read. */
  const pass = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  const accept = (caller: Caller | null) => {
    const socket = new Socket()
    const connection = { socket, isRead: false }
    turns.noteConnection(socket, caller, () => {
      connection.isRead = true
    })
    return connection
  }
  return { turns, begun, begin, take, pass, spend, accept }
}

const nameOf = ({ site, customer }: Caller): string => customer ?? site

const stranger = (site: string): Caller => ({ isProven: false, site, customer: null })

const merchant = (customer: string, site = `site of ${customer}`): Caller => ({
  isProven: true,
  site,
  customer,
})

describe('callers that send requests at once', () => {
  it('do not wait while there is one', () => {
    const { begun, take } = open()
    take(stranger('alone'), 100)
    expect(begun).toHaveLength(100)
  })

  it.each([
    ['strangers', stranger],
    ['merchants', merchant],
  ])('take turns, so that one request is begun before a hundred of another: %s', async (_, caller) => {
    const { begun, take, pass } = open()
    take(caller('good'))
    take(caller('hostile'), 100)
    take(caller('good'))
    expect(begun).toEqual(['good'])
    await pass(2)
    expect(begun.indexOf('good', 1)).toBe(2)
    await pass(101)
    expect(begun).toHaveLength(102)
  })

  it('begin no more in a turn than one whose beginning takes as long as a turn', async () => {
    const { begin, take, pass, spend } = open()
    take(stranger('other'))
    let begun = 0
    for (let sent = 0; sent < 3; sent += 1) {
      begin(stranger('hostile'), () => {
        begun += 1
        spend(1)
      })
    }
    await pass(1)
    expect(begun).toBe(1)
    await pass(2)
    expect(begun).toBe(3)
  })

  it.each([
    ['one of a caller beside another', 1, 900],
    ['several of a caller that has been alone for a second', 8, 1_100],
  ])('begin in a turn, where each takes half a millisecond: %s', async (_, most, quietMs) => {
    const { begin, take, pass, spend } = open()
    take(stranger('other'))
    let begun = 0
    const send = () =>
      begin(stranger('alone'), () => {
        begun += 1
        spend(0.5)
      })
    for (let sent = 0; sent < 20; sent += 1) send()
    spend(quietMs)
    await pass(1)
    expect(begun).toBe(most)
  })

  it('begin in the order in which each sent them', async () => {
    const { begin, take, pass } = open()
    const begun: number[] = []
    take(stranger('other'))
    for (let sent = 0; sent < 20; sent += 1) begin(stranger('caller'), () => void begun.push(sent))
    await pass(22)
    expect(begun).toEqual(Array.from({ length: 20 }, (_, sent) => sent))
  })

  it('begin at most 16 in a turn', async () => {
    const { begun, take, pass } = open()
    take(merchant('other'))
    take(stranger('hostile'), 2 * startsPerTurn)
    expect(begun).toEqual(['other'])
    await pass(1)
    expect(begun.length).toBeLessThanOrEqual(1 + startsPerTurn)
    await pass(2 * startsPerTurn)
    expect(begun).toHaveLength(1 + 2 * startsPerTurn)
  })

  it('share the turns of their site, however many keys they have', async () => {
    const { begun, take, pass } = open()
    for (let key = 0; key < 100; key += 1) take(merchant(`hostile ${key}`, 'one site'))
    take(merchant('good'))
    await pass(1)
    expect(begun.slice(1).indexOf('good')).toBeLessThanOrEqual(1)
  })

  it('behind one address take turns by their keys', async () => {
    const { begun, take, pass } = open()
    take(merchant('hostile', 'one site'), 100)
    take(merchant('good', 'one site'))
    await pass(101)
    expect(begun.lastIndexOf('good')).toBeLessThanOrEqual(101)
    expect(begun.slice(100).indexOf('good')).toBe(0)
  })

  it('that are proven have half of the turns, however many sites the others have', async () => {
    const { begun, take, pass } = open()
    for (let site = 0; site < 100; site += 1) take(stranger(`hostile ${site}`))
    take(merchant('good'), 4)
    await pass(1)
    const places = begun.flatMap((name, place) => (name === 'good' ? [place] : []))
    expect(places).toHaveLength(4)
    expect(Math.max(...places)).toBeLessThanOrEqual(9)
  })
})

describe('connections that arrive', () => {
  it('are accepted before requests begin, for a number of them', async () => {
    const { begun, take, pass, accept } = open()
    accept(null)
    take(stranger('hostile'), 2)
    for (let accepted = 1; accepted <= maxAcceptedBetween; accepted += 1) {
      await pass(1)
      expect(begun).toEqual([])
      accept(null)
    }
    await pass(1)
    expect(begun).toEqual(['hostile', 'hostile'])
  })

  it('are accepted before requests begin for 5 ms at most', async () => {
    const { begun, take, pass, accept, spend } = open()
    accept(null)
    take(stranger('good'), 2)
    for (let accepted = 0; accepted < 4; accepted += 1) {
      await pass(1)
      spend(3)
      accept(null)
    }
    expect(begun).toEqual(['good', 'good'])
  })

  it('let their requests take turns, also while there is one caller', async () => {
    const { begun, take, pass, accept } = open()
    accept(null)
    take(stranger('alone'), 2)
    expect(begun).toEqual([])
    await pass(2)
    expect(begun).toEqual(['alone', 'alone'])
  })

  const countRead = (accepted: readonly { isRead: boolean }[]): number =>
    accepted.filter(({ isRead }) => isRead).length

  it('are read one in a turn, in those of their site', async () => {
    const { pass, accept } = open()
    const [first, ...others] = Array.from({ length: 20 }, () => accept(stranger('hostile')))
    const good = accept(stranger('good'))
    expect(first?.isRead).toBe(true)
    expect(countRead(others)).toBe(0)
    await pass(2 + 2)
    expect(good.isRead).toBe(true)
    expect(countRead(others)).toBeLessThanOrEqual(3)
    await pass(2 * others.length)
    expect(countRead(others)).toBe(others.length)
  })

  it('leave their turn to the next one when they are closed', async () => {
    const { pass, accept } = open()
    accept(stranger('hostile'))
    const closed = accept(stranger('hostile'))
    const next = accept(stranger('hostile'))
    closed.socket.emit('close')
    await pass(3)
    expect(closed.isRead).toBe(false)
    expect(next.isRead).toBe(true)
  })

  it('are read at once while there are no others, and from a proxy', () => {
    const { accept, take } = open()
    expect(accept(stranger('alone')).isRead).toBe(true)
    take(stranger('other'), 2)
    expect(accept(null).isRead).toBe(true)
  })
})

describe('a request that is given up', () => {
  it('takes no turn', async () => {
    const { begun, begin, take, pass } = open()
    take(stranger('other'))
    const hostile = Array.from({ length: 100 }, () => begin(stranger('hostile')))
    take(stranger('good'))
    for (const { cancel } of hostile) cancel?.()
    await pass(1)
    expect(begun).toEqual(['other', 'good'])
    take(stranger('good'))
    await pass(1)
    expect(begun).toEqual(['other', 'good', 'good'])
  })
})

describe('the body of a request', () => {
  it('takes another turn if it arrives later', async () => {
    const { turns, begun, begin, take, pass } = open()
    const { request } = begin(stranger('hostile'))
    take(stranger('good'))
    await pass(1)
    take(stranger('good'), 3)
    void turns.continue(request)?.then(() => begun.push('body'))
    await pass(1)
    expect(begun).toEqual(['hostile', 'good', 'good', 'body', 'good', 'good'])
  })

  it('takes none if it arrived with the request', () => {
    const { turns, begin } = open()
    const { request } = begin(stranger('alone'))
    expect(turns.continue(request)).toBeNull()
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
})
