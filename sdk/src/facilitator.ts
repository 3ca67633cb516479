type Headers = Readonly<Record<string, string>>

export interface FacilitatorConfig {
  readonly url: string
  createAuthHeaders(): Promise<{ verify: Headers; settle: Headers; supported: Headers; bazaar: Headers }>
}

/** Configuration of `HTTPFacilitatorClient` from `@x402/core/server`. */
export const facilitatorFor = (apiKey: string, url = 'http://localhost:8080'): FacilitatorConfig => {
  const headers = { Authorization: `Bearer ${apiKey}` }
  return {
    url,
    createAuthHeaders: async () => ({
      verify: headers,
      settle: headers,
      supported: headers,
      bazaar: headers,
    }),
  }
}
