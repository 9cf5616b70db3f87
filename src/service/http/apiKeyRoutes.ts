/** Section 4.1. */
import { ApiKeyCreationBody } from '../../api/records/requests.ts';
import { notFound, HttpError } from '../core/httpError.ts';
import { reply } from './reply.ts';
import { readBody } from './requestBody.ts';
import type { ControlPlane, Route } from './routes.ts';

export const apiKeyRoutes = ({ keys }: ControlPlane): readonly Route[] => [
  { method: 'GET', path: '/api_keys', answer: () => reply(keys.list()) },
  {
    method: 'POST',
    path: '/api_keys',
    answer: async ({ request }) => reply(keys.create((await readBody(request, ApiKeyCreationBody)).key_name)),
  },
  {
    method: 'DELETE',
    path: '/api_keys/:key_id',
    answer(call) {
      const id = call.param('key_id');
      if (/^0\d/.test(id))
        throw new HttpError(400, 'BAD_REQUEST', 'A key id is written without zeros before it.');
      if (!/^\d{1,15}$/.test(id)) throw notFound('API key with the id', id);
      return reply(keys.revoke(Number(id)));
    },
  },
];
