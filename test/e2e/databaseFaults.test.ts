import { randomUUID } from 'node:crypto'
import type { Address } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { type ExactPaymentBody, exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy.js'
import { startService, type TestService } from '../support/service.js'
import { overTcp, startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'

const answerBody = z.looseObject({
  code: z.string().optional(),
  success: z.boolean().optional(),
  isValid: z.boolean().optional(),
  errorReason: z.string().optional(),
  transaction: z.string().optional(),
})

interface Answer {
  readonly status: number
  readonly body: z.infer<typeof answerBody>
}

interface Order {
  readonly body: ExactPaymentBody
  readonly payTo: Address
  readonly key: string
}

const amount = 10_000n

describe('the service, when its database', () => {
  let chain: LocalChain
  let node: RpcProxy
  const database = useTestDatabase()
  let network: TcpProxy
  let service: TestService
  let apiKey: string
  let orders: Order[] = []
  /** Orders first settled without a key: only that request may receive success. */
  let withoutKey: Order[] = []

  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
    node = await startRpcProxy(chain.url)
    network = await startTcpProxy(Number(new URL(database.url).port))
    // The default, after which a page that is read while the database hangs is refused.
    service = await open({ DATABASE_READ_TIMEOUT_MS: '2000' })
    const registered = await ask('/register', { email: 'ada@example.com', projectName: 'engine' })
    apiKey = z.object({ apiKey: z.string() }).parse(registered.body).apiKey
  })
  afterAll(async () => {
    await service.close()
    await network.close()
    await node.stop()
    await chain.stop()
  })
  afterEach(async () => {
    await network.pass()
    node.clearFaults()
    await chain.control.setAutomine(true)
    orders = []
    withoutKey = []
  })

  const open = (environment: Readonly<Record<string, string>> = {}): Promise<TestService> =>
    startService({
      chain: { ...chain, url: node.url },
      databaseUrl: overTcp(database.url, network.port),
      environment,
    })

  /** Requests go to a service that gives pages as long as a busy machine needs. */
  const whilePatient = async (work: () => Promise<void>): Promise<void> => {
    const hasty = service
    service = await open()
    try {
      await work()
    } finally {
      await network.pass()
      await service.close()
      service = hasty
    }
  }

  const ask = async (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(`${service.url}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    })
    return { status: response.status, body: answerBody.parse(await response.json()) }
  }
  const asAda = () => ({ authorization: `Bearer ${apiKey}` })
  const settle = ({ body, key }: Order) => ask('/settle', body, { 'idempotency-key': key })

  const order = async (): Promise<Order> => {
    const wallet = createEoa()
    await chain.mint(wallet.address, amount)
    const payTo = randomAddress()
    const placed = { body: await exactPayment({ chain, wallet, payTo, amount }), payTo, key: randomUUID() }
    orders.push(placed)
    return placed
  }
  const settleWithoutKey = async (headers: Record<string, string> = {}): Promise<Answer> => {
    const placed = await order()
    withoutKey.push(placed)
    return await ask('/settle', placed.body, headers)
  }
  const verify = async (balance: bigint) => {
    const wallet = createEoa()
    await chain.mint(wallet.address, balance)
    return await ask('/verify', await exactPayment({ chain, wallet, amount }))
  }

  /** One request of each kind that uses the database; `settled` was reported as success before. */
  const listRequests = (settled: Order): Readonly<Record<string, () => Promise<Answer>>> => ({
    'verify a payment': () => verify(amount),
    'verify one that is not covered': () => verify(0n),
    settle: () => order().then(settle),
    'settle without a key': () => settleWithoutKey(),
    'settle for an account': () => settleWithoutKey(asAda()),
    'repeat what was settled': () => settle(settled),
    'dashboard info': () => ask('/dashboard/info', undefined, asAda()),
    'dashboard keys': () => ask('/dashboard/keys', undefined, asAda()),
    'dashboard usage': () => ask('/dashboard/usage', undefined, asAda()),
    'dashboard settlements': () => ask('/dashboard/settlements', undefined, asAda()),
    'an unknown settlement': () => ask(`/v1/settlements/${randomUUID()}`),
    register: () => ask('/register', { email: `${randomUUID()}@example.com`, projectName: 'boat' }),
    'look up': () => ask('/lookup', { email: 'ada@example.com' }),
  })

  const askEverything = async (settled: Order): Promise<Readonly<Record<string, Answer>>> => {
    const requests = Object.entries(listRequests(settled))
    const answers = requests.map(async ([name, request]) => [name, await request()] as const)
    return Object.fromEntries(await Promise.all(answers))
  }

  const isUnavailable = ({ status, body }: Answer): boolean =>
    status === 503 && ['SERVICE_UNAVAILABLE', 'IDEMPOTENCY_UNAVAILABLE'].includes(body.code ?? '')
  const isPending = ({ status, body }: Answer): boolean =>
    status === 200 && body.errorReason === 'settlement_pending' && body.transaction !== ''
  const isSuccess = ({ status, body }: Answer): boolean => status === 200 && body.success === true

  /** Only results that are correct without the database. */
  const expectCorrect = (answers: Readonly<Record<string, Answer>>): void => {
    const seen = Object.entries(answers).map(([name, answer]) => ({
      name,
      told: isUnavailable(answer) ? 'unavailable' : `${answer.status} ${JSON.stringify(answer.body)}`,
    }))
    expect(seen).toEqual(
      seen.map(({ name }) => ({
        name,
        // A valid payment needs only the chain; an invalid one may be paid, which the journal knows.
        told: name === 'verify a payment' ? expect.stringContaining('"isValid":true') : 'unavailable',
      })),
    )
  }

  const recover = (): Promise<unknown> =>
    pollUntil(async () => {
      const answers = [await ask('/ready'), await ask('/dashboard/info', undefined, asAda())]
      return answers.every(({ status }) => status === 200)
    }, 'the service to recover by itself')

  /** Retries each order until its result is final, and checks that it was paid once. */
  const expectEachPaidOnce = async (): Promise<void> => {
    for (const each of orders) {
      await pollUntil(async () => {
        const answer = await settle(each)
        const isAnothers = withoutKey.includes(each) && answer.body.errorReason === 'duplicate_settlement'
        return isSuccess(answer) || isAnothers
      }, 'the end of a settlement')
    }
    expect(await Promise.all(orders.map(({ payTo }) => chain.balanceOf(payTo)))).toEqual(
      orders.map(() => amount),
    )
    const { rows } = await database.pool.query(
      `select lower(pay_to) as "payTo", count(*)::int as settlements from settlements
       where state <> 'failed' and lower(pay_to) = any($1) group by 1 order by 1`,
      [orders.map(({ payTo }) => payTo.toLowerCase())],
    )
    expect(rows).toEqual(
      orders.map(({ payTo }) => ({ payTo: payTo.toLowerCase(), settlements: 1 })).sort(byPayTo),
    )
    const open = await database.pool.query("select from settlements where state in ('claimed', 'pending')")
    expect(open.rowCount).toBe(0)
  }

  const settleUntilSent = async (): Promise<{ readonly answer: Promise<Answer> }> => {
    await chain.control.setAutomine(false)
    const placed = await order()
    const answer = settle(placed)
    await pollUntil(async () => {
      const { rowCount } = await database.pool.query(
        "select from settlements where state = 'pending' and lower(pay_to) = lower($1)",
        [placed.payTo],
      )
      return rowCount === 1
    }, 'a payment to be recorded')
    return { answer }
  }

  /** Statements on settlements wait until the returned function has done its work. */
  const lockSettlements = async () => {
    const locking = await database.pool.connect()
    await locking.query('begin; lock table settlements in access exclusive mode')
    return async (work: () => Promise<void>): Promise<void> => {
      try {
        await work()
      } finally {
        await locking.query('rollback')
        locking.release()
      }
    }
  }
  const countLocked = async (): Promise<number> => {
    const query =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return (await database.pool.query(query)).rowCount ?? 0
  }

  /** A settle that is claimed, and is not recorded before it is released. */
  const settleUntilClaimed = async () => {
    node.clearCalls()
    const release = node.hold('eth_estimateGas')
    const answer = settle(await order())
    await pollUntil(() => node.count('eth_estimateGas') > 0, 'a payment to be estimated')
    return { answer, release }
  }

  it('is slow, is slower and serves every request', () =>
    whilePatient(async () => {
      const settled = await order()
      await settle(settled)
      network.delay(50)
      // One after the other: a request gives up after 5 s in the queue for a connection, which many share.
      for (const [name, request] of Object.entries(listRequests(settled))) {
        const answer = await request()
        expect({ name, ...answer }).toMatchObject({ name, status: usualStatuses.get(name) ?? 200 })
        if (name === 'settle' || name === 'repeat what was settled') expect(answer.body.success).toBe(true)
      }
      await expectEachPaidOnce()
    }))

  it.each([
    { fault: 'refuses connections', inject: () => network.refuse() },
    { fault: 'stops responding', inject: () => network.hang() },
  ])('$fault, responds while it does so with no wrong result, and recovers by itself', async ({ inject }) => {
    const settled = await order()
    await settle(settled)
    // Idle connections are the hardest case: they look usable.
    await askEverything(settled)
    const sent = await settleUntilSent()
    const claimed = await settleUntilClaimed()
    await inject()
    claimed.release()
    await chain.control.setAutomine(true)
    await chain.control.mine()
    // The database is away until everything is answered: a wait without a deadline would not end.
    const [everything, ofSent, ofClaimed] = await Promise.all([
      askEverything(settled),
      sent.answer,
      claimed.answer,
    ])
    expectCorrect(everything)
    expect(isPending(ofSent), JSON.stringify(ofSent)).toBe(true)
    expect(isUnavailable(ofClaimed) || isPending(ofClaimed), JSON.stringify(ofClaimed)).toBe(true)
    expect(await ask('/ready')).toMatchObject({ status: 503 })

    await network.pass()
    await recover()
    await expectEachPaidOnce()
  })

  it('has a locked journal, answers what needs it with 503 meanwhile, and settles each payment once', async () => {
    const many = await Promise.all(Array.from({ length: 30 }, order))
    const sent = await settleUntilSent()
    const locker = await database.pool.connect()
    try {
      await locker.query('begin; lock table settlements in access exclusive mode')
      await chain.control.setAutomine(true)
      await chain.control.mine()
      // It stays locked until everything is answered.
      const answers = await Promise.all(many.map(settle))
      expect(answers.filter((answer) => !isUnavailable(answer))).toEqual([])
      const ofSent = await sent.answer
      expect(isPending(ofSent), JSON.stringify(ofSent)).toBe(true)
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    await recover()
    await expectEachPaidOnce()
  })

  it('repeatedly resets connections, loses no settlement and pays none twice', async () => {
    const many = await Promise.all(Array.from({ length: 40 }, order))
    const release = await lockSettlements()
    let answered = 0
    const settling = many.map(async (each) => {
      const answer = await settle(each)
      answered += 1
      return answer
    })
    const isOver = () => answered === many.length
    // The first reset meets statements that wait for a lock; all others come where they come.
    await release(async () => {
      await pollUntil(async () => (await countLocked()) > 0, 'a statement to be under way')
      await network.reset()
    })
    while (!isOver()) {
      const before = network.countChunks()
      await pollUntil(() => isOver() || network.countChunks() > before + 10, 'statements after the reset')
      await network.reset()
    }
    const answers = await Promise.all(settling)
    const others = answers.filter((each) => !isUnavailable(each) && !isPending(each) && !isSuccess(each))
    expect(others).toEqual([])
    expect(answers.some(isUnavailable)).toBe(true)
    await recover()
    await expectEachPaidOnce()
  })
})

const usualStatuses = new Map([
  ['an unknown settlement', 404],
  ['register', 201],
])

const byPayTo = (left: { readonly payTo: string }, right: { readonly payTo: string }): number =>
  left.payTo < right.payTo ? -1 : 1
