;; Sinew for Guix: guix build -f packaging/guix/sinew.scm
;; The archive is that of `make dist`.
(use-modules (guix packages)
             (guix gexp)
             (guix build-system cmake)
             ((guix licenses) #:prefix license:)
             (gnu packages crypto)
             (gnu packages elf)
             (gnu packages fabric-management)
             (gnu packages gcc)
             (gnu packages mpi)
             (gnu packages ninja)
             (gnu packages pkg-config)
             (gnu packages python)
             (gnu packages web)
             (gnu packages xml))

(package
  (name "sinew")
  (version "0.1.0")
  (source (local-file (string-append "../../dist/sinew-" version ".tar.gz")))
  (build-system cmake-build-system)
  (arguments
   (list #:build-type "RelWithDebInfo"
         #:tests? #f                    ;they start jobs, and look at the machine
         #:configure-flags #~(list "-GNinja" "-DBUILD_TESTING=OFF" "-DSINEW_CCACHE=OFF")
         #:phases
         #~(modify-phases %standard-phases
             (replace 'build (lambda _ (invoke "cmake" "--build" ".")))
             (replace 'install (lambda _ (invoke "cmake" "--install" "."))))))
  (native-inputs (list gfortran ninja pkg-config python rapidjson))
  (inputs (list elfutils expat `(,hwloc "lib") libsodium ucx))
  (home-page "https://example.org/sinew")
  (synopsis "MPI, coarrays, events and routed transfers in one small runtime")
  (description
   "Sinew is one communication runtime under several programming models: MPI, coarrays of
gfortran, fibers, events, regions and transfers over many paths.")
  (license license:bsd-3))
