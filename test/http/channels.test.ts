import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { channelExample } from '../../src/http/schemas/channels.js'
import type { ChannelUseCases } from '../../src/usecases/useCases.js'
import { keyOwner, knownKey, testApp } from './support/app.js'

const { network, channelId } = channelExample

const open = (given: Partial<ChannelUseCases> = {}) => {
  const calls: unknown[] = []
  const app = testApp({
    channels: {
      listChannels: async (...call) => {
        calls.push(call)
        return { channels: [channelExample], nextCursor: `${network}/${channelId}` }
      },
      getChannel: async (...call) => {
        calls.push(call)
        return channelExample
      },
      ...given,
    },
  })
  const get = (url: string, headers: Readonly<Record<string, string>> = { 'x-api-key': knownKey }) =>
    app.inject({ method: 'GET', url, headers })
  return { get, calls }
}

describe('the endpoints of channels', () => {
  it('GET /v1/channels answers a page of the own account', async () => {
    const { get, calls } = open()
    const first = await get('/v1/channels')
    expect(first.json()).toEqual({ channels: [channelExample], nextCursor: `${network}/${channelId}` })
    expect(first.headers['cache-control']).toBe('no-store')
    const cursor = first.json().nextCursor
    expect((await get(`/v1/channels?limit=2&cursor=${encodeURIComponent(cursor)}`)).statusCode).toBe(200)
    expect(calls).toEqual([
      [keyOwner.id, { limit: 50 }],
      [keyOwner.id, { limit: 2, cursor }],
    ])
  })

  it('GET /v1/channels/{network}/{channelId} answers one of the own account', async () => {
    const { get, calls } = open()
    const response = await get(`/v1/channels/${network}/${channelId}`)
    expect(response.json()).toEqual(channelExample)
    expect(calls).toEqual([[keyOwner.id, { network, channelId }]])
  })

  it('answers 404 for another one', async () => {
    const getChannel = async () => {
      throw new AppError('NOT_FOUND', 'The account has no such channel with a voucher')
    }
    expect((await open({ getChannel }).get(`/v1/channels/${network}/${channelId}`)).statusCode).toBe(404)
  })

  it.each([
    '/v1/channels?cursor=1',
    `/v1/channels?cursor=${channelId}`,
    `/v1/channels/${network}/0x12`,
    `/v1/channels/${network}/${channelId}00`,
  ])('refuses %s before it reads anything', async (url) => {
    const { get, calls } = open()
    expect((await get(url)).statusCode).toBe(400)
    expect(calls).toEqual([])
  })

  it('needs a key', async () => {
    const { get, calls } = open()
    for (const url of ['/v1/channels', `/v1/channels/${network}/${channelId}`]) {
      expect((await get(url, {})).statusCode).toBe(401)
    }
    expect(calls).toEqual([])
  })
})
