import { afterEach, describe, expect, it } from 'vitest'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

describe('the largest body of a payment', () => {
  const database = useTestDatabase()
  let service: TestService | null = null

  afterEach(async () => {
    await service?.close()
    service = null
  })

  const statusOf = async (path: string, bytes: number): Promise<number> => {
    const response = await fetch(`${service?.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `"${'x'.repeat(bytes - 2)}"`,
    })
    await response.arrayBuffer()
    return response.status
  }

  it.each([
    ['64 kB by default, and 128 kB for claims', {}, { '/verify': 65_536, '/settle': 131_072 }],
    [
      'MAX_PAYMENT_BODY_BYTES',
      { MAX_PAYMENT_BODY_BYTES: '100000' },
      { '/verify': 100_000, '/settle': 100_000 },
    ],
    ['at most 1 MiB', { MAX_PAYMENT_BODY_BYTES: '1048576' }, { '/verify': 1_048_576, '/settle': 1_048_576 }],
  ])('is %s', async (_name, environment, limits) => {
    service = await startService({ databaseUrl: database.url, environment })
    for (const [path, limit] of Object.entries(limits)) {
      // Text is not a payment, but it is read.
      expect(await statusOf(path, limit)).toBe(400)
      expect(await statusOf(path, limit + 1)).toBe(413)
    }
    expect(await statusOf('/register', 8_192)).toBe(400)
    expect(await statusOf('/register', 8_193)).toBe(413)
  })
})
