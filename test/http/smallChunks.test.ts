import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ignoreRest } from '../../src/http/server/preparedRefusals.js'
import { createSmallChunks } from '../../src/http/server/smallChunks.js'

const requestOf = (headers: Record<string, string> = { 'transfer-encoding': 'chunked' }): IncomingMessage =>
  Object.assign(new IncomingMessage(new Socket()), { headers })

/** Returns how many were taken before the connection was closed. */
const pushChunks = (request: IncomingMessage, count: number, bytes: number): number => {
  for (let pushed = 0; pushed < count; pushed += 1) {
    request.push(Buffer.alloc(bytes))
    if (request.socket.destroyed) return pushed
  }
  return count
}

describe('small chunks of a body', () => {
  it('are taken up to 4,096, and larger ones without end', () => {
    const chunks = createSmallChunks()
    const [small, large, whole] = [requestOf(), requestOf(), requestOf({ 'content-length': '9000' })]
    for (const request of [small, large, whole]) chunks.bound(request)
    expect(pushChunks(small, 9_000, 1)).toBe(4_096)
    expect(pushChunks(large, 9_000, 64)).toBe(9_000)
    expect(pushChunks(whole, 9_000, 1)).toBe(9_000)
  })

  it('do not count the end of the body', () => {
    const request = requestOf()
    createSmallChunks().bound(request)
    expect(pushChunks(request, 4_096, 1)).toBe(4_096)
    request.push(null)
    expect(request.socket.destroyed).toBe(false)
  })

  it('that are read do not count for other requests', () => {
    const chunks = createSmallChunks()
    for (let sent = 0; sent < 60; sent += 1) {
      const request = requestOf()
      chunks.bound(request)
      request.resume()
      request.emit('resume')
      pushChunks(request, 4_000, 1)
    }
    const other = requestOf()
    chunks.bound(other)
    expect(pushChunks(other, 4_000, 1)).toBe(4_000)
  })

  it('of a refused request are not kept', () => {
    const request = requestOf()
    ignoreRest(request)
    expect(pushChunks(request, 9_000, 1)).toBe(9_000)
    expect(request.readableLength).toBe(0)
    expect(request.push(Buffer.alloc(request.readableHighWaterMark))).toBe(false)
  })

  it('of many requests at once are bounded together, until their responses end', () => {
    const chunks = createSmallChunks()
    const many = Array.from({ length: 50 }, () => requestOf())
    for (const request of many) {
      chunks.bound(request)
      expect(pushChunks(request, 4_000, 1)).toBe(4_000)
    }
    const late = requestOf()
    chunks.bound(late)
    expect(pushChunks(late, 4_000, 1)).toBe(256)
    for (const request of many) chunks.end(request)
    const later = requestOf()
    chunks.bound(later)
    expect(pushChunks(later, 4_000, 1)).toBe(4_000)
  })
})
