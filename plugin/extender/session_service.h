// The service Extender: sessions that callers open, and what they ask in them. A part of the server, which alone sees
// gRPC.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "plugin/extender/desk.h"
#include "plugin/extender/session/session_store.h"
#include "proto/gangway/v1/session.grpc.pb.h"

namespace gangway::extender {

// Raw methods, as the desk wants them.
using RawExtender = v1::Extender::WithRawCallbackMethod_OpenSession<v1::Extender::WithRawCallbackMethod_CloseSession<
    v1::Extender::WithRawCallbackMethod_JobEnqueueable<v1::Extender::WithRawCallbackMethod_JobEnqueued<
        v1::Extender::WithRawCallbackMethod_JobReady<v1::Extender::WithRawCallbackMethod_QueueOverused<
            v1::Extender::WithRawCallbackMethod_Predicate<v1::Extender::WithRawCallbackMethod_Prioritize<
                v1::Extender::WithRawCallbackMethod_Preemptable<v1::Extender::WithRawCallbackMethod_Reclaimable<
                    v1::Extender::WithRawCallbackMethod_Allocate<v1::Extender::WithRawCallbackMethod_Deallocate<
                        v1::Extender::WithRawCallbackMethod_ListSessions<v1::Extender::Service>>>>>>>>>>>>>;

// Thread-safe.
class SessionService final : public RawExtender {
 public:
  // Both outlive it.
  SessionService(Desk& desk, const CurrentPolicy& policy);

  using WithRawCallbackMethod_OpenSession::OpenSession;
  Reactor* OpenSession(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                       grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_CloseSession::CloseSession;
  Reactor* CloseSession(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                        grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_JobEnqueueable::JobEnqueueable;
  Reactor* JobEnqueueable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                          grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_JobEnqueued::JobEnqueued;
  Reactor* JobEnqueued(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                       grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_JobReady::JobReady;
  Reactor* JobReady(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                    grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_QueueOverused::QueueOverused;
  Reactor* QueueOverused(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                         grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_Predicate::Predicate;
  Reactor* Predicate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                     grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_Prioritize::Prioritize;
  Reactor* Prioritize(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                      grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_Preemptable::Preemptable;
  Reactor* Preemptable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                       grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_Reclaimable::Reclaimable;
  Reactor* Reclaimable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                       grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_Allocate::Allocate;
  Reactor* Allocate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                    grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_Deallocate::Deallocate;
  Reactor* Deallocate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                      grpc::ByteBuffer* response) override;
  using WithRawCallbackMethod_ListSessions::ListSessions;
  Reactor* ListSessions(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                        grpc::ByteBuffer* response) override;

 private:
  template <class In, class Out, class F>
  Reactor* LookUp(absl::string_view method, grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                  grpc::ByteBuffer& response, F verb);

  Desk& desk_;
  const CurrentPolicy& policy_;
  SessionStore store_;
};

}  // namespace gangway::extender
