import type { ApiKey } from '../../src/ports/accountStore.js'
import { keyScopes } from '../../src/protocol/accounts.js'

/** A primary key with all scopes. */
export const apiKeyOf = (given: Partial<ApiKey> = {}): ApiKey => ({
  id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  name: 'Default',
  scopes: keyScopes,
  status: 'active',
  isPrimary: true,
  createdAt: new Date('2026-01-01T00:00:00Z'),
  expiresAt: null,
  lastUsedAt: null,
  ...given,
})
